import type { Source } from "#domain/repositories/download";
import type { Download, RepositoryPart } from "#lib/repodata/opened-repository";
import { fetchPart } from "#lib/repodata/repository";
import { putBlob } from "#storage/blob-writer";
import { downloadKey } from "#storage/blobs";

/** The limit for all files of one import, compressed. The largest distributions have 50 MB. */
const maxBytes = 512 * 2 ** 20;

/** The large files of an import, in the service's own storage, which is fast to read. */
export interface StagedParts extends AsyncDisposable {
  download: Download;
}

/**
 * Downloads and checks the files of an import before it uses the solver, so that a slow mirror blocks no resolution.
 * Disposing removes the files. The sweep removes what a crash leaves behind.
 */
export async function stageParts(
  env: Env,
  importId: string,
  { source, parts }: { source: Source; parts: readonly RepositoryPart[] },
): Promise<StagedParts> {
  if (source.isOurs) return { download: source.download, [Symbol.asyncDispose]: async () => {} };
  const keys = new Map<string, string>();
  const remove = () => env.BLOBS.delete([...keys.values()]);
  let leftBytes = maxBytes;
  try {
    for (const [nth, part] of parts.entries()) {
      const key = downloadKey(importId, nth);
      keys.set(part.path, key);
      const { size } = await putBlob(env.BLOBS, key, await fetchPart(part, source.download, leftBytes));
      leftBytes -= size;
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const download: Download = async (path) => (await env.BLOBS.get(keys.get(path) ?? ""))?.body;
  return { download, [Symbol.asyncDispose]: remove };
}
