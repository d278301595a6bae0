import { askOutside, DownloadFailed, outsideFetch, type Fetch } from "#domain/outside";
import { rulesOfCatalogue } from "#domain/outside-address";
import { rest } from "#lib/loop/pace";
import { locationUrl } from "#lib/repodata/location";
import type { Download } from "#lib/repodata/opened-repository";
import { streamOf } from "#lib/repodata/streams";
import { repositoryFileKey, userRepositoryFileKey } from "#storage/blobs";
import type { Repository } from "#storage/repositories";
import { userIndexPath } from "#storage/user-repositories";

export { DownloadFailed, outsideFetch, type Fetch };

/** How long a mirror may take to start its answer. */
const answerMs = 30_000;
/** The minimum pace of a mirror for a file that takes longer than this: 8 KiB per second. */
const paceMs = 30_000;
const leastBytesInPace = 240 * 2 ** 10;

const ownPrefix = "service:/repositories/";

/** The downloads of an import took longer than allowed. */
export class DownloadTookTooLong extends DownloadFailed {}

/** Where the files of a repository come from. */
export interface Source {
  download: Download;
  /** Whether the files are read from the service's own R2, and never over HTTP. */
  isOurs: boolean;
}

/** Reads the files of a repository: the service's own files from R2, others from their mirror until `signal` aborts. */
export function sourceOf(
  env: Env,
  repository: Repository,
  asking: { fetchOutside: Fetch; signal: AbortSignal },
): Source {
  const { url } = repository;
  const keyOf = ownKey(repository);
  if (keyOf) return { isOurs: true, download: async (path) => (await env.BLOBS.get(keyOf(path)))?.body };
  const [address = ""] = url.split("#");
  return { isOurs: false, download: (path) => fetched(rulesFor(env, repository), locationUrl(address, path), asking) };
}

/** The rules for the addresses that an import of the repository may access. */
export const rulesFor = (env: Env, { catalogue }: Pick<Repository, "catalogue">): Env =>
  catalogue === null ? env : rulesOfCatalogue(env);

/**
 * R2's etag of the index, for one of the service's own repositories. Null if there is no index. Undefined for any other
 * repository.
 */
export async function ownIndexTag(env: Env, repository: Repository): Promise<string | null | undefined> {
  const keyOf = ownKey(repository);
  if (!keyOf) return undefined;
  return (await env.BLOBS.head(keyOf(userIndexPath(repository.type))))?.etag ?? null;
}

function ownKey({ uid, url, isUserRepository }: Repository): ((path: string) => string) | undefined {
  if (isUserRepository) return (path) => userRepositoryFileKey(uid, path);
  if (!url.startsWith(ownPrefix)) return undefined;
  return (path) => repositoryFileKey(`${url.slice(ownPrefix.length).replace(/\/+$/, "")}/${path}`);
}

async function fetched(
  env: Env,
  address: string,
  { fetchOutside, signal }: { fetchOutside: Fetch; signal: AbortSignal },
): Promise<ReadableStream<Uint8Array> | undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), answerMs);
  try {
    const asking = { fetchOutside, signal: AbortSignal.any([signal, silence.signal]) };
    return await bodyOf(await askOutside(env, new URL(address), asking), { url: address, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface Watched {
  url: string;
  signal: AbortSignal;
}

async function bodyOf(answer: Response, watched: Watched): Promise<ReadableStream<Uint8Array> | undefined> {
  if (answer.ok && answer.body) {
    const reader = answer.body.getReader();
    return streamOf(paced(reader, watched), () => reader.cancel());
  }
  await answer.body?.cancel();
  if ([403, 404, 410].includes(answer.status)) return undefined;
  throw new DownloadFailed(`${watched.url} answered ${answer.status}.`);
}

/**
 * The bytes from a mirror. Throws DownloadFailed, which counts as the mirror's fault, if the mirror ends the connection
 * early or is too slow, or if the import's time limit is reached.
 */
async function* paced(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { url, signal }: Watched,
): AsyncGenerator<Uint8Array> {
  let failure: unknown;
  let bytesInPace = 0;
  // Also ends a read that is waiting.
  const end = (reason: unknown) => {
    failure ??= reason;
    reader.cancel(reason).catch(() => {});
  };
  const endLate = () => end(signal.reason);
  const pace = setInterval(() => {
    if (bytesInPace < leastBytesInPace) end(new DownloadFailed(`${url} sends less than 8 KiB a second.`));
    bytesInPace = 0;
  }, paceMs);
  signal.addEventListener("abort", endLate);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (failure !== undefined) throw failure;
      if (done) return;
      bytesInPace += value.byteLength;
      yield value;
      await rest();
    }
  } catch (cause) {
    throw cause instanceof DownloadFailed
      ? cause
      : (failure ?? new DownloadFailed(`${url} was interrupted.`, { cause }));
  } finally {
    clearInterval(pace);
    signal.removeEventListener("abort", endLate);
  }
}
