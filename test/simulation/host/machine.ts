/**
 * The simulated build host, in place of KIWI, QEMU and the disk. All other parts of the agent are real: its loop, its
 * calls, their retries, heartbeats and the socket.
 */
import { createHash } from "node:crypto";
import type { BuildClaim, BuildFinished, Heartbeat, Phase } from "#lib/contract/index";
import { digestOfParts } from "#storage/artifacts";
import { startHeartbeat, type StopReason } from "agent:heartbeat";
import { RemoteRefusal } from "agent:retry";
import { wait } from "../runtime/globals.ts";
import { fortuneOf, witness, type Attempt } from "../witness.ts";

interface Lease {
  id: number;
  token: string;
}

interface ArtifactCalls {
  open(file: { size?: number; fileName: string }): Promise<unknown>;
  putPart(part: { number: number; sha256: string; body: Uint8Array<ArrayBuffer> }): Promise<void>;
  complete(file: object): Promise<void>;
}

interface Calls {
  heartbeat(lease: Lease, beat: Heartbeat, signal: AbortSignal): Promise<{ cancel: boolean }>;
  artifact(lease: Lease, name: string, signal: AbortSignal): ArtifactCalls;
  sendLog(lease: Lease, offset: number, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<unknown>;
  finish(lease: Lease, result: BuildFinished, signal: AbortSignal): Promise<void>;
  fail(lease: Lease, failure: { kind: "failed" | "error"; reason: string }, signal: AbortSignal): Promise<void>;
  release(lease: Lease, signal: AbortSignal): Promise<void>;
}

interface Parts {
  api: Calls;
  config: { name: string };
  onPhase?: (phase: Phase) => void;
  log: (text: string, facts?: object) => void;
}

/** Replaces KIWI: takes a while, uploads three small files, and ends as the seed determines. */
export function startBuild(claim: BuildClaim, parts: Parts) {
  const { buildId, attempt, token } = claim;
  const made: Attempt = { buildId, attempt, agent: parts.config.name, token };
  witness.claimed(made);
  const stopping = new AbortController();
  const stop = (reason: StopReason) => stopping.abort(reason);
  const done = run(made, parts, stopping.signal, stop).catch((error: unknown) =>
    parts.log("build ended", { buildId, reason: String(error) }),
  );
  return { buildId, stop, done: done.finally(() => witness.left(made)) };
}

async function run(made: Attempt, parts: Parts, stopping: AbortSignal, stop: (reason: StopReason) => void) {
  const lease = { id: made.buildId, token: made.token };
  const { api, log } = parts;
  await using _ = startHeartbeat({
    send: (beat, signal) => api.heartbeat(lease, beat, signal),
    beat: () => ({ phase: "Installing software", percent: 40, message: "Installing software" }),
    onStop: stop,
    log,
  });
  try {
    await make(made, lease, parts, stopping);
  } catch (error) {
    if (stopping.aborted && stopping.reason === "released") await api.release(lease, AbortSignal.timeout(3_000));
    const isLate = error instanceof RemoteRefusal && error.status === 410;
    if (isLate) witness.late.push(made);
    if (stopping.aborted || isLate) throw error;
    const kind = error instanceof ContentFault ? "failed" : "error";
    if (kind === "error") witness.hostFailed();
    await api.fail(lease, { kind, reason: String(error) }, AbortSignal.timeout(90_000));
    throw error;
  }
}

class ContentFault extends Error {}

async function make(made: Attempt, lease: Lease, { api, onPhase }: Parts, stopping: AbortSignal): Promise<void> {
  const { seconds, end } = fortuneOf(made);
  await api.sendLog(lease, 0, bytesOf(`attempt ${made.attempt}\n`), stopping);
  await wait(seconds * 1000, undefined, { signal: stopping });
  if (end === "content") throw new ContentFault("simulated: the appliance cannot be built");
  if (end === "host") throw new Error("simulated: the host has failed");
  onPhase?.("Uploading the image");
  for (const name of ["image", "files", "files-index"]) {
    const bytes = bytesOf(`${name} of build ${made.buildId}, attempt ${made.attempt}`);
    const calls = api.artifact(lease, name, stopping);
    await calls.open({ size: bytes.byteLength, fileName: name });
    const sha256 = hash("sha256", bytes);
    await calls.putPart({ number: 1, sha256, body: bytes });
    const partsDigest = await digestOfParts([{ sha256 }]);
    const digests = { md5: hash("md5", bytes), sha1: hash("sha1", bytes), sha256 };
    await calls.complete({ size: bytes.byteLength, partsDigest, ...digests });
  }
  await api.finish(lease, result, stopping);
  witness.finished(made);
}

const result: BuildFinished = {
  fileName: "Kiosk.oem.tar.gz",
  rawSize: 1024,
  compressed: true,
  installed: [{ name: "busybox", version: "1.35.0", release: "1", arch: "x86_64" }],
  steps: [{ phase: "Preparing the build", seconds: 30 }],
  builder: "9.24.56",
};

const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("hex");
const bytesOf = (text: string) => Uint8Array.from(new TextEncoder().encode(text));

/** A disk that is never full. */
export class DiskRoom {
  wasEnough = true;
  isEnough = async () => true;
  isBack = async () => false;
  keepFloor = (_: unknown, signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

export const EndedDisks = Object;
export const listRoots = async () => [];
export const reserveVnc = async () => null;
export const hostReport = async () => ({ type: "report", load: 0, freeGb: 9, slots: { builds: 2, testdrives: 2 } });
