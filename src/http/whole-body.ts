import { concatenate } from "#lib/repodata/streams";

/** Reads a whole short body. Undefined if it is longer than `maxBytes`; the rest is not read. */
export async function readWhole(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let seenBytes = 0;
  for await (const chunk of body) {
    seenBytes += chunk.byteLength;
    if (seenBytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return concatenate(chunks);
}

/** Decodes UTF-8, including a byte order mark. Undefined if the bytes are not UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
