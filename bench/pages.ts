import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { adminClient } from "../scripts/admin/client.ts";
import { projectRoot } from "../scripts/launch/project.ts";
import { readSecrets } from "../scripts/launch/secrets.ts";
import { accountPages, appliancePages, openPages } from "../test/acceptance/support/account-pages.ts";
import { weighPages } from "../test/acceptance/support/page-weight.ts";
import { restClient } from "../test/acceptance/support/rest.ts";
import type { Ready } from "../test/acceptance/support/service.ts";
import type * as Imported from "./debian/imported.ts";
import type * as Mirror from "./debian/mirror.ts";
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

const barKb = 35;
const paths = [...openPages, ...accountPages, ...appliancePages.map((tab) => `/appliance/ID${tab}`)];

/** A prepared checkout of the tree that is compared. */
const before = process.env["KILN_BENCH_BEFORE"];

/** Pages that need the solver. */
const isResolved = (path: string): boolean => path.includes("/software");

/**
 * The processor time of workerd for each page of an account with many appliances of long names, based on Debian, and what a
 * browser receives for it.
 */
export async function measurePages(place: Place): Promise<Figure[]> {
  await using services = new AsyncDisposableStack();
  const ours = await startReader(place, services, projectRoot);
  const theirs = before === undefined ? undefined : await startReader(place, services, resolve(before));
  const figures: Figure[] = [];
  for (const path of paths) {
    const { ms, msBefore } = await timesOf(path, ours, theirs);
    place.say(`${path}: ${median(ms).toFixed(1)} ms at the median`);
    figures.push(timeFigure(path, ms, msBefore), weightFigure(path, ours, theirs));
  }
  return figures;
}

function timeFigure(path: string, ms: readonly number[], msBefore: readonly number[]): Figure {
  const p95 = percentile(ms, 0.95);
  return {
    what: `page \`${path}\`: processor time, p95 of ${rounds}`,
    ours: inMs(ms),
    against: msBefore.length === 0 ? "–" : inMs(msBefore),
    ratio: msBefore.length === 0 ? `${p95.toFixed(1)} ms` : (p95 / percentile(msBefore, 0.95)).toFixed(2),
    bar: isResolved(path) ? "reported" : `≤ ${barMs} ms`,
    verdict: isResolved(path) ? "reported" : verdict(p95 <= barMs),
  };
}

const inMs = (of: readonly number[]) => `${percentile(of, 0.95).toFixed(1)} ms (median ${median(of).toFixed(1)})`;

function weightFigure(path: string, ours: Reader, theirs: Reader | undefined): Figure {
  const [bytes, bytesBefore] = [ours.weights.get(path), theirs?.weights.get(path)];
  if (bytes === undefined) throw new Error(`${path} has no weight`);
  return {
    what: `page \`${path}\`: weight with an empty cache`,
    ours: inKb(bytes),
    against: bytesBefore === undefined ? "–" : inKb(bytesBefore),
    ratio: bytesBefore === undefined ? inKb(bytes) : (bytes / bytesBefore).toFixed(2),
    bar: `≤ ${barKb} kB`,
    verdict: verdict(bytes <= barKb * 1000),
  };
}

const inKb = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

/** Starts the service of a tree, fills it, and weighs its pages. */
async function startReader(place: Place, services: AsyncDisposableStack, tree: string): Promise<Reader> {
  const { startWithMirrors, importCatalogue, templateOf }: typeof Imported = await import(
    join(tree, "bench/debian/imported.ts")
  );
  const { catalogueOf }: typeof Mirror = await import(join(tree, "bench/debian/mirror.ts"));
  const catalogue = await catalogueOf(releaseOfHost(), AbortSignal.timeout(60_000));
  const service = services.use(await startWithMirrors(place, catalogue));
  place.say(`importing ${catalogue.name} for ${tree}`);
  await importCatalogue(service, catalogue);
  const applianceId = await fill(service, templateOf(catalogue, "JeOS"));
  const { url } = service.ready;
  const reader = { pid: workerdOf(service.stateDir), url, cookie: await signIn(service.ready), applianceId };
  await untilExamined(reader);
  const ofAppliance = paths.map((path) => path.replace("ID", applianceId));
  const weighed = await weighPages(service.ready, ofAppliance);
  return {
    ...reader,
    weights: new Map(
      [...weighed].map(([path, bytes]) => [path.replace(`/appliance/${applianceId}`, "/appliance/ID"), bytes]),
    ),
  };
}

/** Random-looking characters, because repetitions would be compressed. They are the same in each run. */
const nameOf = (at: number): string =>
  [`${at} `, ...[1, 2, 3].map((nth) => createHash("sha512").update(`${at} ${nth}`).digest("base64url"))]
    .join("")
    .slice(0, nameLength);

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

/** A signed-in person, and the process of the service. */
interface Connection {
  pid: number;
  url: string;
  cookie: string;
  applianceId: string;
}

interface Reader extends Connection {
  /** The weight of each page in bytes, by path. */
  weights: ReadonlyMap<string, number>;
}

async function read({ url, cookie }: Connection, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: { cookie, accept: "text/html" }, redirect: "manual" });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return text;
}

/** After each answer the service examines a few appliances of the list. Waits until the state of all is known. */
const untilExamined = (reader: Connection): Promise<boolean> =>
  waitUntil("every appliance of the list is examined", { seconds: 120, everyMs: 500 }, async () => {
    return !(await read(reader, "/appliances")).includes("> Being checked");
  });

/**
 * Sends requests one after the other, in turns. Returns the processor time of each in milliseconds, or nothing if only
 * this tree has the page.
 */
async function timesOf(path: string, ours: Reader, theirs: Reader | undefined) {
  const [ms, msBefore]: [number[], number[]] = [[], []];
  for (let round = -warmUps; round < rounds; round++) {
    const [own, other] = [await timeOf(ours, path), theirs?.weights.has(path) && (await timeOf(theirs, path))];
    if (round < 0) continue;
    ms.push(own);
    if (typeof other === "number") msBefore.push(other);
  }
  return { ms, msBefore };
}

async function timeOf(reader: Reader, path: string): Promise<number> {
  const begun = processorMs(reader.pid);
  await read(reader, path.replace("ID", reader.applianceId));
  return processorMs(reader.pid) - begun;
}

/** Processor time of all threads of a process. Their `schedstat` counts nanoseconds; `stat` only counts hundredths of a second. */
function processorMs(pid: number): number {
  const spent = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      return 0; // The process has just ended.
    }
  });
  return spent.reduce((sum, each) => sum + each, 0) / 1e6;
}
