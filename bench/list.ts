import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { restClient } from "../test/acceptance/support/rest.ts";
import type { Ready } from "../test/acceptance/support/service.ts";
import { startConstantWorker } from "./constant-worker.ts";
import { verdict, type Figure } from "./figure.ts";
import { requestsPerSecond, type Target } from "./load.ts";
import { jeosTemplate, type Place } from "./place.ts";
import { median, spread } from "./statistics.ts";

const appliances = 100;
const rounds = 5;
const load = { connections: 16, seconds: 3, maxRequests: 100_000 };
const warmUp = { ...load, seconds: 2 };
const bar = 0.25;

/** The list of an account's appliances as XML, compared with a Worker that always answers the same bytes. */
export async function measureList(place: Place): Promise<Figure[]> {
  if (!isTmpfs("/dev/shm")) throw new Error("/dev/shm is not a tmpfs, and the bar is for a state directory on one");
  const figures = await measureOn(place, "/dev/shm", "tmpfs");
  const onDisk = isTmpfs(tmpdir()) ? [] : await measureOn(place, tmpdir(), "disk");
  return [...figures, ...onDisk];
}

const tmpfsMagic = 0x01021994;
const isTmpfs = (path: string) => statfsSync(path, { bigint: false }).type === tmpfsMagic;

async function measureOn(place: Place, parent: string, medium: "tmpfs" | "disk"): Promise<Figure[]> {
  const service = await place.start(["--no-agent"], parent);
  const { target, text } = await fill(service.ready());
  const constant = await startConstantWorker(text);
  try {
    const targets = [target, { ...target, url: constant.url }, { ...target, url: constant.askingUrl }];
    const [ours = [], against = [], asking = []] = await alternate(place, targets);
    const what = `list of ${appliances} appliances as XML (${target.bytes} bytes), ${medium}`;
    return [
      figure({ what, ours, against, bar: medium === "tmpfs" ? bar : undefined }),
      figure({ what: "the same, against a Worker that asks D1 for one row", ours, against: asking, bar: undefined }),
    ];
  } finally {
    await constant.stop();
    await service.stop();
  }
}

type Rates = { what: string; ours: number[]; against: number[]; bar: number | undefined };

function figure({ what, ours, against, bar }: Rates): Figure {
  const ratio = median(ours) / median(against);
  return {
    what,
    ours: spread(ours, 0, " requests/s"),
    against: spread(against, 0, " requests/s"),
    ratio: ratio.toFixed(3),
    bar: bar === undefined ? "reported" : `≥ ${bar}`,
    verdict: bar === undefined ? "reported" : verdict(ratio >= bar),
  };
}

/** Clones the appliances. Returns their list as a target, and its answer. */
async function fill(ready: Ready): Promise<{ target: Target; text: string }> {
  const client = restClient(ready);
  const jeos = await jeosTemplate(client);
  for (let at = 1; at <= appliances; at++) {
    await client.call("POST", "/appliances", { clone_from: jeos, arch: "x86_64", name: `Kiosk ${at}` });
  }
  const url = `${ready.url}/api/v2/user/appliances`;
  const headers = { authorization: `Basic ${Buffer.from(`${ready.username}:${ready.api_key}`).toString("base64")}` };
  const text = await (await fetch(url, { headers })).text();
  const found = text.split("<appliance>").length - 1;
  if (found !== appliances) throw new Error(`the list has ${found} appliances, not ${appliances}`);
  return { target: { url, headers, bytes: Buffer.byteLength(text) }, text };
}

/** Returns the rates of each target, round by round. */
async function alternate(place: Place, targets: readonly Target[]): Promise<number[][]> {
  for (const target of targets) await requestsPerSecond(target, warmUp);
  const rates: number[][] = targets.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [at, target] of targets.entries()) rates[at]?.push(await requestsPerSecond(target, load));
    place.say(`round ${round}: ${rates.map((of) => of.at(-1)?.toFixed(0)).join(", ")} requests/s`);
  }
  return rates;
}
