import { askOutside, DownloadFailed, outsideFetch, type Fetch } from "#domain/outside";
import { locationUrl } from "#repodata/location";
import type { Download } from "#repodata/repository";
import { repositoryFileKey, userRepositoryFileKey } from "#storage/blobs";
import type { Repository } from "#storage/repositories";

export { DownloadFailed, outsideFetch, type Fetch };

/** How long a whole file may take. */
const fileTimeoutMs = 120_000;
const ownPrefix = "service:/repositories/";

/** Reads the files of a repository: one of the service itself out of R2, never over HTTP; others from their mirror. */
export function downloadFrom(env: Env, repository: Repository, fetchOutside: Fetch): Download {
  const { url } = repository;
  const keyOf = ownKey(repository);
  if (keyOf) return async (path) => (await env.BLOBS.get(keyOf(path)))?.body;
  return (path) => fetched(env, locationUrl(url, path), fetchOutside);
}

/** What R2 calls the version of the index of a repository of the service itself; undefined: the files are elsewhere. */
export async function ownIndexTag(env: Env, repository: Repository): Promise<string | null | undefined> {
  const keyOf = ownKey(repository);
  if (!keyOf) return undefined;
  return (await env.BLOBS.head(keyOf("repodata/repomd.xml")))?.etag ?? null;
}

function ownKey({ id, url, isUserRepository }: Repository): ((path: string) => string) | undefined {
  if (isUserRepository) return (path) => userRepositoryFileKey(id, path);
  if (!url.startsWith(ownPrefix)) return undefined;
  return (path) => repositoryFileKey(`${url.slice(ownPrefix.length).replace(/\/+$/, "")}/${path}`);
}

async function fetched(
  env: Env,
  address: string,
  fetchOutside: Fetch,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const signal = AbortSignal.timeout(fileTimeoutMs);
  return await bodyOf(await askOutside(env, new URL(address), { fetchOutside, signal }), address);
}

async function bodyOf(answer: Response, url: string): Promise<ReadableStream<Uint8Array> | undefined> {
  if (answer.ok && answer.body) return answer.body.pipeThrough(namingTheMirror(url));
  await answer.body?.cancel();
  if ([403, 404, 410].includes(answer.status)) return undefined;
  throw new DownloadFailed(`${url} answers ${answer.status}.`);
}

// A broken connection is the mirror's fault; without this it would look like ours.
function namingTheMirror(url: string): ReadableWritablePair<Uint8Array, Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  return {
    readable,
    writable: new WritableStream({
      write: (chunk) => writer.write(chunk),
      close: () => writer.close(),
      abort: (cause: unknown) => writer.abort(new DownloadFailed(`${url} breaks off.`, { cause })),
    }),
  };
}
