import { createMiddleware } from "hono/factory";

const chunkBytes = 128 * 1024;

/**
 * Reads what a client still sends when its request was answered without its body: a refused upload, or one that comes
 * before its credentials, as Python sends it. Such a client sends everything before it looks at the answer; the runtime
 * would close the connection in the middle, and the answer would be lost (wire.md §1.2). Left alone are bodies longer than
 * any upload, and those that wait for `100 Continue`: they have not been sent, and reading would ask for them.
 */
export const readUnreadBody = createMiddleware<{ Bindings: Env }>(async (c, next) => {
  await next();
  const request = c.req.raw;
  const waits = /^\s*100-continue\s*$/i.test(request.headers.get("expect") ?? "");
  if (request.body === null || request.bodyUsed || request.body.locked || waits) return;
  const maxBytes = (Number(c.env.MAX_UPLOAD_MB) + 1) * 2 ** 20;
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return;
  await discard(request.body, maxBytes).catch(() => {}); // a client that goes away needs no answer
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
