import { concatenate } from "#repodata/streams";

/**
 * Reads a whole short body; undefined if it is longer than `maxBytes`. The rest of a too long body is read and dropped: a client that
 * is still sending when the answer comes often gets a broken connection instead.
 */
export async function readWhole(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let seenBytes = 0;
  for await (const chunk of body) {
    seenBytes += chunk.byteLength;
    if (seenBytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return seenBytes <= maxBytes ? concatenate(chunks) : undefined;
}
