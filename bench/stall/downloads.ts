import { randomBytes } from "node:crypto";
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { verdict } from "../figure.ts";
import { memoryMib, resetPeak, workerdOf } from "../memory.ts";
import { median } from "../statistics.ts";
import { restClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos, postBuild } from "../place.ts";
import { finishBuild } from "./finished-build.ts";
import { counted, type Scenario, type Stage } from "./scenario.ts";

const fileMb = 42;
const readers = 100;
const addresses = 5;
const stalledMs = 15_000;
const barMib = 2;

/**
 * Each reader reads the beginning of an image, and then stops reading. Anyone with the URL can do that, because the
 * download needs no credentials.
 */
export const downloads: Scenario = {
  name: "downloads",
  what: `${readers} downloads of ${fileMb} MB that no one reads`,
  prepare: async (stage) => {
    const { place, service } = stage;
    const url = await imageUrl(stage);
    const rates = [await readWhole(url), await readWhole(url), await readWhole(url)];
    place.say(`one fast reader: ${median(rates).toFixed(0)} MB/s`);
    return () => stallAll(service, url, median(rates));
  },
};

async function imageUrl(stage: Stage): Promise<string> {
  const client = restClient(stage.account);
  const applianceId = await cloneJeos(client);
  await finishBuild(stage, await postBuild(client, applianceId), { image: randomBytes(fileMb * 1e6), installed: [] });
  return (await client.call("GET", "/builds", { appliance_id: applianceId })).builds.build.download_url;
}

async function stallAll(service: Stage["service"], url: string, fastMb: number) {
  const pid = workerdOf(service.stateDir);
  const before = memoryMib(pid, "VmRSS");
  resetPeak(pid);
  const answers: IncomingMessage[] = [];
  const requests = Array.from({ length: readers }, (_, n) => stall(url, `127.0.0.${20 + (n % addresses)}`, answers));
  await sleep(stalledMs);
  const peak = memoryMib(pid, "VmHWM");
  for (const request of requests) request.destroy();
  const seen = counted(answers.map(({ statusCode }) => statusCode ?? 0));
  const each = (peak - before) / readers;
  return {
    seen: `${seen} after ${stalledMs / 1000} s; one fast reader alone ${fastMb.toFixed(0)} MB/s`,
    figures: [
      {
        what: `memory of workerd for each of ${readers} downloads that no one reads, after ${stalledMs / 1000} s`,
        ours: `${peak.toFixed(0)} MiB`,
        against: `${before.toFixed(0)} MiB before`,
        ratio: `+${each.toFixed(2)} MiB each`,
        bar: `≤ ${barMib} MiB`,
        verdict: verdict(each <= barMib),
      },
    ],
  };
}

/** Sends the request, and reads nothing of the answer. */
function stall(url: string, localAddress: string, answers: IncomingMessage[]): ClientRequest {
  const request = get(url, { agent: false, localAddress }, (answer) => {
    answer.on("error", () => {}); // it may be disconnected
    answers.push(answer);
  });
  return request.on("error", () => {});
}

/** The rate in MB per second. */
async function readWhole(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url);
  let bytes = 0;
  for await (const chunk of answer.body ?? []) bytes += chunk.byteLength;
  if (bytes !== fileMb * 1e6) throw new Error(`the download has ${bytes} bytes`);
  return bytes / 1000 / (performance.now() - startedAt);
}
