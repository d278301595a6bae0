import { expect, it } from "vitest";
import { globalOptions, shownOption, shownParameter, type Command, type Option } from "../src/command.ts";
import { commands, groups } from "../src/commands.ts";
import { exitCodes } from "../src/complaint.ts";
import { environment } from "../src/manual.ts";
import { placeholders } from "../src/placeholders.ts";

/** docs/commands.md, which is generated from the commands themselves. */
const page = (): string =>
  [
    "# All commands",
    "",
    "This page is made from the list of the commands, as `man kiln` is. To change it, change that, and run its test with",
    "`--update`: `npm run test:fast -- cli/test/commands-page.test.ts --update`.",
    "",
    "Commands marked with * are also tools of `kiln mcp`, and those marked with ** are tools with `--write`.",
    "",
    "| Command | What it does | Options |",
    "|---|---|---|",
    ...commands.map(row),
    "",
    "## Options of every command",
    "",
    table(
      ["Option", "Meaning"],
      Object.entries(globalOptions).map(([key, option]) => [code(shownOption(key, option)), option.about]),
    ),
    "",
    "## Arguments",
    "",
    table(
      ["Argument", "Meaning"],
      Object.entries(placeholders).map(([name, about]) => [code(`<${name}>`), about]),
    ),
    "",
    "## Exit codes",
    "",
    table(
      ["Code", "Meaning"],
      Object.values(exitCodes).map(({ code: number, about }) => [String(number), about]),
    ),
    "",
    "## Environment",
    "",
    table(
      ["Variable", "Meaning"],
      Object.entries(environment).map(([name, about]) => [code(name), about]),
    ),
    "",
  ].join("\n");

function row({ words, parameters, summary, details, options, examples, tool }: Command): string {
  const mark = tool === undefined ? "" : tool === "reads" ? " \\*" : " \\*\\*";
  const what = [`${summary}.`, details, ...examples.map((line) => `<br>${code(line)}`)].filter(Boolean).join(" ");
  return cells([
    code([...words, ...parameters.map(shownParameter)].join(" ")) + mark,
    what,
    Object.entries(options).map(option).join("<br>"),
  ]);
}

const option = ([key, one]: [string, Option]): string => `${code(shownOption(key, one))}: ${one.about}`;
const code = (text: string): string => `\`${text}\``;
const cells = (all: readonly string[]): string => `| ${all.map((one) => one.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (headings: readonly string[], rows: readonly string[][]): string =>
  [cells(headings), `|${"---|".repeat(headings.length)}`, ...rows.map(cells)].join("\n");

it("matches the list of the commands", async () => {
  await expect(page()).toMatchFileSnapshot("../../docs/commands.md");
});

it("knows what each group of commands is about", () => {
  const inGroups = commands.filter(({ words }) => words.length > 1).map(({ words }) => words[0]);
  expect(Object.keys(groups).toSorted()).toEqual([...new Set(inGroups)].toSorted());
});

it("has no command twice, and none that is also a group", () => {
  const names = commands.map(({ words }) => words.join(" "));
  expect(new Set([...names, ...Object.keys(groups)]).size).toBe(names.length + Object.keys(groups).length);
});

it("uses every placeholder", () => {
  const used = commands.flatMap(({ parameters, options }) => [
    ...parameters.map(({ name }) => name),
    ...Object.values<Option>({ ...options, ...globalOptions }).flatMap(({ placeholder }) => placeholder ?? []),
  ]);
  expect([...new Set(used)].toSorted()).toEqual(Object.keys(placeholders).toSorted());
});
