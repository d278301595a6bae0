/** Fetches the appliance's own files and verifies their checksums. config.sh then puts them into their places. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stagedContents, type FrozenFile, type FrozenInput } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { succeeded, type Reach } from "../packages/mirror.ts";
import { isWorthRetry, RemoteRefusal, longTries, withRetry } from "../retry.ts";
import { BuildFailure } from "./failure.ts";
import { quietLimit, receive } from "../receive.ts";

export interface ContentFetch {
  input: Pick<FrozenInput, "files">;
  /** The KIWI description. */
  description: string;
  reach: Reach;
  signal: AbortSignal;
}

/** Puts each content below the description once, even if several files have it. */
export async function fetchContents(job: ContentFetch): Promise<void> {
  const wanted = new Map(job.input.files?.map((file) => [file.blobId, file]));
  if (wanted.size === 0) return;
  const dir = join(job.description, stagedContents);
  await mkdir(dir, { recursive: true });
  for (const file of wanted.values()) await fetchOne(file, dir, job);
}

class WrongContent extends Error {}

/** A blob's name is a UUID (FrozenFile), so it is safe in a path. */
async function fetchOne(file: FrozenFile, dir: string, { reach, signal }: ContentFetch): Promise<void> {
  try {
    await withRetry(async () => {
      using quiet = quietLimit(signal);
      const { body } = await openContent(file, reach, quiet.signal);
      const onBytes = (size: number) => {
        quiet.heard();
        if (size > file.size) throw new WrongContent("it is larger than when the build was started");
      };
      const sha256 = await receive(body, join(dir, file.blobId), { onBytes, mode: 0o600 });
      if (sha256 !== file.sha256) throw new WrongContent("it has changed since the build was started");
    }, longTries(signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RemoteRefusal && error.status === 410) throw error; // the attempt has ended
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
  return succeeded(answer);
}

/** The keys that the image's rpm must trust, as files for KIWI's --signing-key. */
export async function writeKeys({ keys = [] }: Pick<FrozenInput, "keys">, dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  const paths = keys.map(({ fingerprint }) => join(dir, `${fingerprint}.asc`));
  for (const [at, path] of paths.entries()) await writeFile(path, keys[at]?.armour ?? "");
  return paths;
}
