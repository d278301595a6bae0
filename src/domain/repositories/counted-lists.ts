import type { Download, RepositoryPart } from "#lib/repodata/opened-repository";

/** The same download, with the part of the lists that it has read. */
export function countedLists(lists: readonly RepositoryPart[], download: Download) {
  const totalBytes = lists.reduce((sum, { sizeBytes = NaN }) => sum + sizeBytes, 0);
  let readBytes = 0;
  const counting = () =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        readBytes += bytes.byteLength;
        controller.enqueue(bytes);
      },
    });
  const counted: Download = async (path) => (await download(path))?.pipeThrough(counting());
  return {
    download: counted,
    /** Null: the index does not say how long the lists are. */
    percent: () => (totalBytes > 0 ? Math.min(100, Math.floor((100 * readBytes) / totalBytes)) : null),
  };
}
