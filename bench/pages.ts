import { readdirSync, readFileSync } from "node:fs";
import { adminClient } from "../scripts/admin/client.ts";
import { readSecrets } from "../scripts/launch/secrets.ts";
import { accountPages, appliancePages, openPages } from "../test/acceptance/support/account-pages.ts";
import { restClient } from "../test/acceptance/support/rest.ts";
import type { Ready } from "../test/acceptance/support/service.ts";
import { importCatalogue, startWithMirrors, templateOf } from "./debian/imported.ts";
import { catalogueOf } from "./debian/mirror.ts";
import { releaseOfHost } from "./debian/release.ts";
import { type Figure, verdict } from "./figure.ts";
import { workerdOf } from "./memory.ts";
import type { Place } from "./place.ts";
import type { InspectedService } from "./software/import-cost.ts";
import { median, percentile } from "./statistics.ts";
import { waitUntil } from "./wait.ts";

const appliances = 320;
const nameLength = 200;
const rounds = 60;
const warmUps = 5;
const barMs = 50;

/** Pages that need the solver. */
const isResolved = (path: string): boolean => path.includes("/software");

/** The processor time of workerd for each page of an account with many appliances of long names, based on Debian. */
export async function measurePages(place: Place): Promise<Figure[]> {
  const catalogue = await catalogueOf(releaseOfHost(), AbortSignal.timeout(60_000));
  await using service = await startWithMirrors(place, catalogue);
  place.say(`importing ${catalogue.name}`);
  await importCatalogue(service, catalogue);
  const applianceId = await fill(service, templateOf(catalogue, "JeOS"));
  const reader = { pid: workerdOf(service.stateDir), url: service.ready.url, cookie: await signIn(service.ready) };
  await untilExamined(reader);
  const figures: Figure[] = [];
  for (const path of [...openPages, ...accountPages, ...appliancePages.map((tab) => `/appliance/ID${tab}`)]) {
    const ms = await timesOf(reader, path.replace("ID", applianceId));
    place.say(`${path}: ${median(ms).toFixed(1)} ms at the median`);
    figures.push(figure(path, ms));
  }
  return figures;
}

function figure(path: string, ms: readonly number[]): Figure {
  const p95 = percentile(ms, 0.95);
  return {
    what: `page \`${path}\`: processor time, p95 of ${rounds}`,
    ours: `${p95.toFixed(1)} ms (median ${median(ms).toFixed(1)})`,
    against: "–",
    ratio: `${p95.toFixed(1)} ms`,
    bar: isResolved(path) ? "reported" : `≤ ${barMs} ms`,
    verdict: isResolved(path) ? "reported" : verdict(p95 <= barMs),
  };
}

const nameOf = (at: number): string =>
  `${at} ${"Radio astronomy workstation ".repeat(nameLength)}`.slice(0, nameLength - 1) + ".";

/** Makes the account an operator, clones the appliances, and returns the id of one. */
async function fill({ ready, stateDir }: InspectedService, template: string): Promise<string> {
  const admin = adminClient(ready.url, readSecrets(stateDir).ADMIN_SECRET ?? "");
  await admin.setOperator(ready.username, { operator: true });
  const client = restClient(ready);
  let id = "";
  for (let at = 1; at <= appliances; at++) {
    const clone = { clone_from: template, arch: "x86_64", name: nameOf(at) };
    id = (await client.call("POST", "/appliances", clone)).appliance.id;
  }
  return id;
}

/** Signs in, and returns the cookie that a browser gets. */
async function signIn({ url, username, api_key: password }: Ready): Promise<string> {
  const body = new URLSearchParams({ name: username, password });
  const answer = await fetch(`${url}/sign_in`, { method: "POST", body, headers: { origin: url }, redirect: "manual" });
  const cookies = answer.headers.getSetCookie().map((given) => given.replace(/;.*/s, ""));
  if (answer.status !== 303) throw new Error(`signing in was answered with ${answer.status}`);
  return cookies.join("; ");
}

/** A signed-in browser, and the process of the service. */
interface Reader {
  pid: number;
  url: string;
  cookie: string;
}

async function read({ url, cookie }: Reader, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: { cookie, accept: "text/html" }, redirect: "manual" });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return text;
}

/** After each answer the service examines a few appliances of the list. Waits until the state of all is known. */
const untilExamined = (reader: Reader): Promise<boolean> =>
  waitUntil("every appliance of the list is examined", { seconds: 120, everyMs: 500 }, async () => {
    return !(await read(reader, "/appliances")).includes("> Being checked");
  });

/** One request after the other: the processor time of each, in milliseconds. */
async function timesOf(reader: Reader, path: string): Promise<number[]> {
  const ms: number[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const before = processorMs(reader.pid);
    await read(reader, path);
    if (round >= 0) ms.push(processorMs(reader.pid) - before);
  }
  return ms;
}

/** Processor time of all threads of a process. Their `schedstat` counts nanoseconds; `stat` only counts hundredths of a second. */
function processorMs(pid: number): number {
  const spent = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      return 0; // It has just ended.
    }
  });
  return spent.reduce((sum, each) => sum + each, 0) / 1e6;
}
