import { repositoryFileKey } from "./blobs.ts";

/** Streams a file into R2, which needs its length in advance. */
export async function putRepositoryFile(
  blobs: R2Bucket,
  path: string,
  file: { body: ReadableStream<Uint8Array>; size: number },
): Promise<void> {
  const fixed = new FixedLengthStream(file.size);
  await Promise.all([blobs.put(repositoryFileKey(path), fixed.readable), file.body.pipeTo(fixed.writable)]);
}

export const headRepositoryFile = (blobs: R2Bucket, path: string): Promise<R2Object | null> =>
  blobs.head(repositoryFileKey(path));

export const deleteRepositoryFile = (blobs: R2Bucket, path: string): Promise<void> =>
  blobs.delete(repositoryFileKey(path));

/** Every file below a prefix, e.g. "tiny/main/". */
export async function listRepositoryFiles(blobs: R2Bucket, prefix: string): Promise<{ path: string; size: number }[]> {
  const files: { path: string; size: number }[] = [];
  let cursor: string | undefined;
  do {
    const page = await blobs.list({ prefix: repositoryFileKey(prefix), ...(cursor ? { cursor } : {}) });
    files.push(...page.objects.map(({ key, size }) => ({ path: key.slice(repositoryFileKey("").length), size })));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return files;
}
