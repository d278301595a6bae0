import { concatenate } from "#repodata/streams";

/** Reads a whole short body; undefined if it is longer than `maxBytes`, and then not to its end. */
export async function readWhole(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let seenBytes = 0;
  for await (const chunk of body) {
    seenBytes += chunk.byteLength;
    if (seenBytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return concatenate(chunks);
}
