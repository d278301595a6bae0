import { createMiddleware } from "hono/factory";

/**
 * Answers HEAD with the length that GET would have. The runtime sets the length only if it sends the body, so this
 * counts the bytes of a page or document. Answers with a file or a stream of known length already have the header.
 */
export const headLength = createMiddleware(async (c, next) => {
  await next();
  if (c.req.method !== "HEAD") return;
  const { body, headers, status, statusText } = c.res;
  if (body === null || headers.has("content-length") || isEndless(headers)) return;
  const answer = new Response(null, { status, statusText, headers });
  answer.headers.set("content-length", String(await bytesIn(body)));
  c.res = answer;
});

const isEndless = (headers: Headers) => headers.get("content-type")?.startsWith("text/event-stream") ?? false;

async function bytesIn(body: ReadableStream<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.byteLength;
  return bytes;
}
