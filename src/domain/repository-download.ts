import { isReachable } from "#domain/repository-address";
import { locationUrl } from "#repodata/location";
import type { Download } from "#repodata/repository";
import { repositoryFileKey, userRepositoryFileKey } from "#storage/blobs";
import type { Repository } from "#storage/repositories";

/** The mirror does not give the file; the message may be shown. */
export class DownloadFailed extends Error {
  override readonly name = "DownloadFailed";
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How long a whole file may take. */
const fileTimeoutMs = 120_000;
const mostRedirects = 5;
const ownPrefix = "service:/repositories/";

/** The door to the outside: embedded, a service of its own that reaches the public network alone. */
export function outsideFetch(env: Env & { OUTSIDE?: Fetcher }): Fetch {
  const { OUTSIDE: outside } = env;
  return outside ? (url, init) => outside.fetch(url, init) : (url, init) => fetch(url, init);
}

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
  let url = new URL(address);
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    if (!isReachable(env, url)) throw new DownloadFailed(`${url.origin} cannot be reached from here.`);
    const answer = await fetchOutside(url.href, { redirect: "manual", signal }).catch((error: unknown) => {
      throw new DownloadFailed(`${url.href} cannot be reached.`, { cause: error });
    });
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
    if (location === null) return bodyOf(answer, url.href);
    await answer.body?.cancel();
    const next = URL.parse(location, url);
    if (!next) throw new DownloadFailed(`${url.href} leads nowhere.`);
    url = next;
  }
  throw new DownloadFailed(`${address} leads in a circle.`);
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
