import { createMiddleware } from "hono/factory";

const chunkBytes = 128 * 1024;

/**
 * Reads the rest of a body that the answer did not need: of a refused upload, or of one that Python sends first without
 * credentials. Such a client sends everything before it reads the answer. The runtime would close the connection, and the answer
 * would be lost (wire.md §1.2). Does not read bodies longer than any upload, nor those that wait for `100 Continue`: these are
 * not sent yet, and reading would request them.
 */
export const readUnreadBody = createMiddleware<{ Bindings: Env }>(async (c, next) => {
  await next();
  const request = c.req.raw;
  const waits = /^\s*100-continue\s*$/i.test(request.headers.get("expect") ?? "");
  if (request.body === null || request.bodyUsed || request.body.locked || waits) return;
  const maxBytes = (Number(c.env.MAX_UPLOAD_MB) + 1) * 2 ** 20;
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return;
  await discard(request.body, maxBytes).catch(() => {}); // a client that disconnects needs no answer
});

async function discard(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<void> {
  const reader = body.getReader({ mode: "byob" });
  let buffer = new Uint8Array(chunkBytes);
  for (let bytes = 0; bytes <= maxBytes;) {
    const { done, value } = await reader.readAtLeast(chunkBytes, buffer);
    bytes += value?.byteLength ?? 0;
    if (done || value === undefined) return;
    buffer = new Uint8Array(value.buffer);
  }
}
