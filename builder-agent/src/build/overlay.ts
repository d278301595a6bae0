/** Fetches the appliance's own files, each compared with its frozen checksum, for config.sh to put in their places. */
import { createHash } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stagedContents, type FrozenFile, type FrozenInput } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import type { Reach } from "../packages/mirror.ts";
import { isWorthRetry, RemoteRefusal, shortTries, withRetry } from "../retry.ts";
import { writeAll } from "../testdrive/write-all.ts";
import { BuildFailure } from "./build-failure.ts";
import { quietLimit, type QuietLimit } from "../quiet-limit.ts";

export interface ContentFetch {
  input: Pick<FrozenInput, "files">;
  /** The KIWI description. */
  description: string;
  reach: Reach;
  signal: AbortSignal;
}

/** Puts each content below the description, once, however many files have it. */
export async function fetchContents(job: ContentFetch): Promise<void> {
  const wanted = new Map(job.input.files?.map((file) => [file.blobId, file]));
  if (wanted.size === 0) return;
  const dir = join(job.description, stagedContents);
  await mkdir(dir, { recursive: true });
  for (const file of wanted.values()) await fetchOne(file, dir, job);
}

class WrongContent extends Error {}

/** A blob's name is a UUID (FrozenFile), so it cannot be a path. */
async function fetchOne(file: FrozenFile, dir: string, { reach, signal }: ContentFetch): Promise<void> {
  try {
    await withRetry(async () => {
      const quiet = quietLimit(signal);
      try {
        await store(await openContent(file, reach, quiet.signal), file, { path: join(dir, file.blobId), quiet });
      } finally {
        quiet.end();
      }
    }, shortTries(signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RemoteRefusal && error.status === 410) throw error; // the attempt is over
    const isKnown = error instanceof WrongContent || error instanceof RemoteRefusal || isWorthRetry(error);
    if (!isKnown) throw error;
    const reason = `The file ${file.path} could not be fetched: ${sentenceOf(error)}`.slice(0, 500);
    throw new BuildFailure({ kind: "error", reason }, { cause: error });
  }
}

async function openContent({ blobId }: FrozenFile, reach: Reach, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(`${reach.buildUrl}/contents/${blobId}`, {
    headers: reach.credentials,
    redirect: "error",
    signal,
  });
  if (answer.ok) return answer;
  void answer.body?.cancel();
  throw new RemoteRefusal("GET", answer.status, "");
}

async function store(
  answer: Response,
  { size, sha256 }: FrozenFile,
  { path, quiet }: { path: string; quiet: QuietLimit },
): Promise<void> {
  await using file = await open(path, "w", 0o600);
  const digest = createHash("sha256");
  let received = 0;
  for await (const bytes of answer.body ?? []) {
    quiet.heard();
    if (received + bytes.length > size) throw new WrongContent("it is larger than what was frozen");
    await writeAll(file, bytes, received);
    digest.update(bytes);
    received += bytes.length;
  }
  if (digest.digest("hex") !== sha256) throw new WrongContent("it is not what was frozen");
}

/** The keys that the image's rpm must trust, as files for KIWI's --signing-key. */
export async function writeKeys({ keys = [] }: Pick<FrozenInput, "keys">, dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  const paths = keys.map(({ fingerprint }) => join(dir, `${fingerprint}.asc`));
  for (const [at, path] of paths.entries()) await writeFile(path, keys[at]?.armour ?? "");
  return paths;
}
