import { readdirSync, readFileSync } from "node:fs";
import { adminClient } from "../scripts/admin/client.ts";
import { readSecrets } from "../scripts/launch/secrets.ts";
import { restClient } from "../test/acceptance/support/rest.ts";
import type { Ready, Service } from "../test/acceptance/support/service.ts";
import { verdict, type Figure } from "./figure.ts";
import { workerdOf } from "./memory.ts";
import { jeosTemplate, type Place } from "./place.ts";
import { median, percentile } from "./statistics.ts";

const appliances = 320;
const nameLength = 200;
const rounds = 60;
const warmUps = 5;
const barMs = 50;

const ofAppliance = ["", "/configuration/general", "/configuration/users", "/files", "/files/new", "/build", "/share"];
const paths = (applianceId: string) => [
  "/",
  "/gallery?search=radio",
  "/api/docs",
  "/appliances",
  "/appliances?search=radio",
  "/appliances/new",
  ...ofAppliance.map((tab) => `/appliance/${applianceId}${tab}`),
  "/account",
  "/account/sessions",
  "/account/webhooks",
  "/account/audit_log",
  "/service",
  "/service/accounts",
];

/** Processor time of workerd for each page that resolves nothing, of an account with many appliances of long names. */
export async function measurePages(place: Place): Promise<Figure[]> {
  const service = await place.start(["--no-agent"]);
  try {
    const applianceId = await fill(service);
    const cookie = await signIn(service.ready());
    const pid = workerdOf(service.stateDir);
    const figures: Figure[] = [];
    for (const path of paths(applianceId)) {
      const ms = await timesOf(pid, `${service.ready().url}${path}`, cookie);
      place.say(`${path}: ${median(ms).toFixed(1)} ms at the median`);
      figures.push(figure(path.replace(`/${applianceId}`, "/ID"), ms));
    }
    return figures;
  } finally {
    await service.stop();
  }
}

function figure(path: string, ms: readonly number[]): Figure {
  const p95 = percentile(ms, 0.95);
  return {
    what: `page \`${path}\` with ${appliances} appliances: processor time, p95 of ${rounds}`,
    ours: `${p95.toFixed(1)} ms (median ${median(ms).toFixed(1)})`,
    against: "–",
    ratio: `${p95.toFixed(1)} ms`,
    bar: `≤ ${barMs} ms`,
    verdict: verdict(p95 <= barMs),
  };
}

const nameOf = (at: number): string =>
  `${at} ${"Radio astronomy workstation ".repeat(nameLength)}`.slice(0, nameLength - 1) + ".";

/** Clones the appliances, for an operator; returns the id of one. */
async function fill(service: Service): Promise<string> {
  const ready = service.ready();
  const admin = adminClient(ready.url, readSecrets(service.stateDir).ADMIN_SECRET ?? "");
  await admin.setOperator(ready.username, { operator: true });
  const client = restClient(ready);
  const jeos = await jeosTemplate(client);
  let id = "";
  for (let at = 1; at <= appliances; at++) {
    const clone = { clone_from: jeos, arch: "x86_64", name: nameOf(at) };
    id = (await client.call("POST", "/appliances", clone)).appliance.id;
  }
  return id;
}

/** The cookie that a browser gets. */
async function signIn({ url, username, api_key: password }: Ready): Promise<string> {
  const body = new URLSearchParams({ name: username, password });
  const answer = await fetch(`${url}/sign_in`, { method: "POST", body, headers: { origin: url }, redirect: "manual" });
  const cookies = answer.headers.getSetCookie().map((given) => given.replace(/;.*/s, ""));
  if (answer.status !== 303) throw new Error(`signing in was answered with ${answer.status}`);
  return cookies.join("; ");
}

/** One request after the other: the processor time of each, in milliseconds. */
async function timesOf(pid: number, url: string, cookie: string): Promise<number[]> {
  const ms: number[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const before = processorMs(pid);
    const answer = await fetch(url, { headers: { cookie, accept: "text/html" }, redirect: "manual" });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
    if (round >= 0) ms.push(processorMs(pid) - before);
  }
  return ms;
}

/** Of all threads of a process. Their `schedstat` counts nanoseconds; `stat` only counts hundredths of a second. */
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
