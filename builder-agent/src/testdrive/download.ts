import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestdriveClaim } from "../contract.ts";
import type { Lease } from "../lease.ts";
import { quietLimit } from "../receive.ts";
import { isWorthRetry, pauseMs, RemoteRefusal } from "../retry.ts";
import type { WorkerApi } from "../worker-api.ts";
import { writeAll } from "../files.ts";

export interface Download {
  claim: Pick<TestdriveClaim, "image">;
  /**
   * The sessions that wait for the image. A token is valid until its session ends; then another session's token is
   * used.
   */
  leases: () => Lease[];
  api: Pick<WorkerApi, "readImage">;
  signal: AbortSignal;
  onProgress?: (receivedBytes: number) => void;
  /** If no bytes arrive for this time, the download is aborted and continued with a new request. */
  stallMs?: number;
}

/** Consecutive attempts without a byte, with pauses of at most 0.5, 1, 2, 4 s. */
const maxVainAttempts = 5;
const pauses = { baseDelayMs: 500, maxDelayMs: 4_000 };

/** Downloads the file of a build to `into`. Continues after interruptions. Verifies the SHA-256. */
export async function download(into: string, job: Download): Promise<void> {
  const { sha256, fileName } = job.claim.image;
  await using file = await open(into, "wx", 0o600);
  const digest = createHash("sha256");
  await receive(job, async (bytes, position) => {
    await writeAll(file, bytes, position);
    digest.update(bytes);
  });
  const actual = digest.digest("hex");
  if (actual !== sha256)
    throw new WrongImage(`the SHA-256 of ${fileName} is ${actual} instead of the announced ${sha256}`);
}

type Write = (bytes: Uint8Array, position: number) => Promise<void>;

async function receive(job: Download, write: Write): Promise<void> {
  const { size, fileName } = job.claim.image;
  let received = 0;
  let vain = 0;
  for (;;) {
    const before = received;
    const take = async (bytes: Uint8Array) => {
      if (received + bytes.length > size)
        throw new WrongImage(`${fileName} is longer than the announced ${size} bytes`);
      await write(bytes, received);
      received += bytes.length;
      job.onProgress?.(received);
    };
    const leases = job.leases();
    const lease = leases[vain % leases.length];
    if (!lease) throw new Error("No session waits for the image.");
    await readOn({ ...job, lease }, received, take).catch((error: unknown) => {
      if (!isWorthRetry(error) && !(isOver(error) && leases.length > 1)) throw error;
    });
    if (received === size) return;
    vain = received > before ? 0 : vain + 1;
    if (vain === maxVainAttempts) throw new WrongImage(`${fileName} ends after ${received} of ${size} bytes`);
    await sleep(pauseMs(vain + 1, pauses), undefined, { signal: job.signal });
  }
}

/** The Worker sent a different file than it announced. */
class WrongImage extends Error {
  constructor(what: string) {
    super(`The image cannot be used: ${what}.`);
    this.name = "WrongImage";
  }
}

async function readOn(
  job: Download & { lease: Lease },
  from: number,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  using quiet = quietLimit(job.signal, job.stallMs);
  const answer = await job.api.readImage(job.lease, from, quiet.signal);
  checkRange(answer, from, job.claim.image.size);
  for await (const bytes of answer.body ?? []) {
    quiet.end(); // a slow disk is not a stalled download
    await write(bytes);
    quiet.heard();
  }
  job.signal.throwIfAborted();
}

/** The session has ended. The Worker knows that before the agent. */
const isOver = (error: unknown) => error instanceof RemoteRefusal && error.status === 410;

function checkRange(answer: Response, from: number, size: number): void {
  const range = answer.headers.get("content-range");
  const expected = `bytes ${from}-${size - 1}/${size}`;
  // A server may answer any range with the whole file, which is right if the range starts at 0.
  if (answer.status === 200 && from === 0) return;
  if (answer.status === 206 && range === expected) return;
  void answer.body?.cancel();
  throw new WrongImage(`asked for "${expected}", the service answered ${answer.status} "${range ?? "no range"}"`);
}
