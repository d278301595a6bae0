import type { Download, RepositoryPart } from "#lib/repodata/opened-repository";

/** Wraps a download in order to report how much of the lists has been read. */
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
    /** Null if the index does not state the sizes of the lists. */
    percent: () => (totalBytes > 0 ? Math.min(100, Math.floor((100 * readBytes) / totalBytes)) : null),
  };
}
