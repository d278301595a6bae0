import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  heartbeatEveryMs,
  partBytes,
  phases,
  type BuildClaim,
  type Capabilities,
} from "../builder-agent/src/contract.ts";
import { digestOfParts } from "../builder-agent/src/upload/checksum.ts";
import { connectWorker, type ArtifactApi, type WorkerApi } from "../builder-agent/src/worker-api.ts";
import { readSecrets } from "../scripts/launch/secrets.ts";
import { restClient } from "../test/acceptance/support/rest.ts";
import { verdict, type Figure } from "./figure.ts";
import { memoryMib, resetPeak, workerdOf } from "./memory.ts";
import { cloneJeos, postBuild, type Place } from "./place.ts";

const parts = (2 * 1024 ** 3) / partBytes;
const partsAtATime = 2; // as the agent does
const barMib = 64;
const gib = (parts * partBytes) / 1024 ** 3;
const limitMs = 600_000;

/** workerd's memory during a 2 GiB upload that is sent as an agent does: with a claim, in parts, and with digests. */
export async function measureUploadMemory(place: Place): Promise<Figure[]> {
  const service = await place.start(["--no-agent"]);
  try {
    const { url } = service.ready();
    const token = readSecrets(service.stateDir).AGENT_TOKEN;
    if (token === undefined) throw new Error("the service has no token for its agent");
    const client = restClient(service.ready());
    const buildId = await postBuild(client, await cloneJeos(client));
    const api = connectWorker({ url, token });
    const claim = await claimBuild(api, buildId);
    const pid = workerdOf(service.stateDir);
    return await measure(place, { api, claim, pid });
  } finally {
    await service.stop();
  }
}

const capabilities: Capabilities = {
  arches: ["x86_64"],
  imageTypes: ["oem"],
  isolation: "none",
  testdrives: false,
  builder: "bench",
};

async function claimBuild(api: WorkerApi, buildId: string): Promise<BuildClaim> {
  const signal = AbortSignal.timeout(30_000);
  await api.hello(capabilities, signal);
  const claim = await api.claimBuild(capabilities, signal);
  if (claim?.buildId !== Number(buildId)) throw new Error(`build ${buildId} cannot be claimed`);
  return claim;
}

type Upload = { api: WorkerApi; claim: BuildClaim; pid: number };

async function measure(place: Place, { api, claim, pid }: Upload): Promise<Figure[]> {
  const beforeMib = memoryMib(pid, "VmRSS");
  resetPeak(pid);
  let halfMib = NaN;
  const startedAt = performance.now();
  await uploadAll(api, claim, () => (halfMib = memoryMib(pid, "VmHWM")));
  place.say(`${parts} parts in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  const peakMib = memoryMib(pid, "VmHWM");
  return [
    {
      what: `Worker memory (workerd's resident peak) during a ${gib} GiB upload in parts`,
      ours: `${peakMib.toFixed(0)} MiB`,
      against: `${beforeMib.toFixed(0)} MiB before`,
      ratio: `+${(peakMib - beforeMib).toFixed(0)} MiB`,
      bar: `≤ +${barMib} MiB`,
      verdict: verdict(peakMib - beforeMib <= barMib),
    },
    {
      what: `the same: what its second half adds`,
      ours: `${peakMib.toFixed(0)} MiB`,
      against: `${halfMib.toFixed(0)} MiB half-way`,
      ratio: `+${(peakMib - halfMib).toFixed(0)} MiB`,
      bar: "reported",
      verdict: "reported",
    },
  ];
}

async function uploadAll(api: WorkerApi, claim: BuildClaim, onHalf: () => void): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)]);
  const lease = { id: claim.buildId, token: claim.token };
  const beating = keepLease(api, lease, signal);
  try {
    await sendParts(api.artifact(lease, "image", signal), `${claim.input.imageName}.tar.gz`, onHalf);
  } finally {
    over.abort();
    await beating;
  }
}

async function keepLease(api: WorkerApi, lease: { id: number; token: string }, signal: AbortSignal): Promise<void> {
  const beat = { phase: phases[6], percent: 90, message: phases[6] };
  while (!signal.aborted) {
    await api.heartbeat(lease, beat, signal).catch(() => {});
    await sleep(heartbeatEveryMs, undefined, { signal }).catch(() => {});
  }
}

async function sendParts(artifact: ArtifactApi, fileName: string, onHalf: () => void): Promise<void> {
  const size = parts * partBytes;
  const seed = randomBytes(partBytes);
  const digests: string[] = [];
  const whole = { md5: createHash("md5"), sha1: createHash("sha1"), sha256: createHash("sha256") };
  await artifact.open({ size, fileName });
  const running = new Set<Promise<void>>();
  for (let number = 1; number <= parts; number++) {
    const bytes = Buffer.from(seed);
    bytes.writeUInt32BE(number);
    for (const hash of Object.values(whole)) hash.update(bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    digests.push(sha256);
    const sent = artifact.putPart({ number, sha256, body: new Blob([bytes]) }).finally(() => running.delete(sent));
    running.add(sent);
    if (running.size >= partsAtATime) await Promise.race(running);
    if (number === parts / 2) onHalf();
  }
  await Promise.all(running);
  const { md5, sha1, sha256 } = whole;
  const digestsOfFile = { md5: md5.digest("hex"), sha1: sha1.digest("hex"), sha256: sha256.digest("hex") };
  await artifact.complete({ size, partsDigest: digestOfParts(digests), ...digestsOfFile });
}
