import { afterAll, beforeAll, expect, it, vi } from "vitest";
import page from "../../docs/operations/cost.md?raw";
import { moveClock } from "../support/webhooks.ts";
import { costOf, plan, prices, queriesPerSecond, type Amount } from "./prices.ts";
import { measureAll, names, type Name } from "./scenarios.ts";
import { monthOf, services, type Measured } from "./services.ts";
import { columns, keysOf, settled } from "./written.ts";

/**
 * Measures what the service uses, and writes the tables of docs/operations/cost.md. Small differences are ignored. If a
 * number has changed for a good reason, remove its row from the page and run this with `--update`.
 */

let counted: Measured;
let measured: Measured;
beforeAll(async () => {
  moveClock();
  counted = await measureAll();
  measured = settled(counted, page);
});
afterAll(() => {
  vi.useRealTimers();
});

it("measures everything that the page names", () => {
  expect(Object.keys(counted).toSorted()).toEqual(Object.keys(names).toSorted());
});

it("is what docs/operations/cost.md says", async () => {
  const tables = { measured: measuredTable(), sizes: sizesTable(), months: monthsTable(), capacity: capacityTable() };
  const made = Object.entries(tables).reduce((text, [name, table]) => withTable(text, name, table), page);
  await expect(made).toMatchFileSnapshot("../../docs/operations/cost.md");
});

it.each(services)("costs a $name service no more than $bar dollars a month", (service) => {
  expect(monthOf(service, measured).sum).toBeLessThanOrEqual(service.bar);
});

it("keeps a number of the page that is as good as the one counted", () => {
  const { list } = settled({ ...counted, list: { ...counted.list, queries: 3, rowsRead: 50 } }, page);
  expect(list).toMatchObject({ queries: 1, rowsRead: 50 });
});

it("adds up to what a plan includes, and then charges each further one", () => {
  expect(costOf("requests", 10e6)).toBe(0);
  expect(costOf("requests", 12e6)).toBeCloseTo(0.6);
});

/** Writes a table between its marks in the page. */
function withTable(text: string, name: string, rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const lines = [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rest];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const marks = new RegExp(`(<!-- made by a test: ${name} -->\\n)[^]*?(<!-- end -->)`);
  expect(text).toMatch(marks);
  return text.replace(marks, (_, before, after) => `${before}\n${table}\n\n${after}`);
}

const measuredTable = () => [
  ["What", ...Object.values(columns)],
  ...keysOf<Name>(names).map((name) => [
    names[name],
    ...keysOf(columns).map((column) => exact(measured[name][column])),
  ]),
];

const sizesTable = () => [
  ["", ...services.map(({ name }) => name)],
  ["accounts", ...services.map(({ accounts }) => number(accounts))],
  ["agents", ...services.map(({ agents }) => number(agents))],
  ["builds a day", ...services.map(({ buildsADay }) => number(buildsADay))],
  ["of these with an open page", ...services.map(({ watched }) => `${watched * 100} %`)],
  ["testdrives a day", ...services.map(({ testdrivesADay }) => number(testdrivesADay))],
  ["pages a day", ...services.map(({ pagesADay }) => number(pagesADay))],
  ["calls of the API a day", ...services.map(({ callsADay }) => number(callsADay))],
  ["images stored for", ...services.map(({ keepDays }) => `${keepDays} days`)],
];

function monthsTable() {
  const months = services.map((service) => monthOf(service, measured));
  return [
    ["A month", ...services.map(({ name }) => name)],
    ["the plan", ...services.map(() => dollars(plan))],
    ...keysOf<Amount>(prices).map((of) => [
      prices[of].words,
      ...months.map(({ amounts, usd }) => `${short(amounts[of])}: ${dollars(usd[of])}`),
    ]),
    ["**sum**", ...months.map(({ sum }) => `**${dollars(sum)}**`)],
    ["D1 queries a second", ...months.map(({ queries }) => number(queries))],
  ];
}

/** The number of actions, in tens, that use all queries of one database. */
const most = (name: Name) => number(Math.floor((queriesPerSecond * 60) / measured[name].queries / 10) * 10);

function capacityTable() {
  return [
    ["At the same time", "At most"],
    ["builds, while no page shows them", most("minute")],
    ["builds with their pages open", most("watched")],
    ["testdrives with their pages open", most("driveMinute")],
  ];
}

const exact = (n: number): string => n.toLocaleString("en-US", { maximumFractionDigits: 4 });
const number = (n: number): string => (Math.round(n * 100) / 100).toLocaleString("en-US");
const dollars = (n: number): string => `$${number(n < 100 ? n : Math.round(n))}`;
/** A large number, in millions. */
const short = (n: number): string =>
  n < 1e6 ? number(Math.round(n)) : `${(n / 1e6).toLocaleString("en-US", { maximumSignificantDigits: 3 })} M`;
