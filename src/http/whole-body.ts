import { concatenate } from "#repodata/streams";

/**
 * A short body as a whole; undefined when it is longer than it may be. What is too much is read and forgotten, since a client
 * that is still sending when the answer comes often sees a broken connection instead of it.
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
