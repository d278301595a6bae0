import { RepodataFault, type FaultCode } from "#lib/repodata/fault";
import { expect } from "vitest";

export const bytesOf = (text: string) => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** The bytes in pieces of a given size, one per read. */
export function inChunks(bytes: Uint8Array | string, chunkBytes = 7): ReadableStream<Uint8Array> {
  const whole = typeof bytes === "string" ? bytesOf(bytes) : bytes;
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= whole.byteLength) return controller.close();
        controller.enqueue(whole.slice(at, (at += chunkBytes)));
      },
    },
    { highWaterMark: 0 },
  );
}

/** Endless zeros up to a limit. Counts the bytes that were requested, to show whether a limit stopped the source. */
export function zeros(bytes: number, chunkBytes = 1 << 16) {
  const counter = { givenBytes: 0 };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (counter.givenBytes >= bytes) return controller.close();
        counter.givenBytes += chunkBytes;
        controller.enqueue(new Uint8Array(chunkBytes));
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, counter };
}

export async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export async function counted(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.byteLength;
  return bytes;
}

/** These tests cannot decompress xz and bzip2. A call of this fails the test. */
export const noOthers = (kind: string): never => {
  throw new Error(`no decoder for ${kind} in this test`);
};

export async function expectFault(work: Promise<unknown> | (() => unknown), code: FaultCode, message?: RegExp) {
  const error = await Promise.resolve()
    .then(() => (typeof work === "function" ? work() : work))
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(RepodataFault);
  expect(error).toMatchObject({ code });
  if (message) expect(String(error)).toMatch(message);
}
