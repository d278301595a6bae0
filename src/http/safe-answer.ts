import { createMiddleware } from "hono/factory";
import { safeHeaders } from "./safe-headers.ts";
import { requestIdHeader } from "#lib/contract/index";
import { requestIdNow } from "#log/request-id";

const headers = Object.entries(safeHeaders);

/** Gives every answer the headers that it does not have already; an answer that opens a WebSocket takes none. */
export const safeAnswer = createMiddleware(async (c, next) => {
  await next();
  if (c.res.webSocket) return;
  try {
    addMissing(c.res.headers);
  } catch {
    // Of an answer that came from elsewhere the headers are read-only.
    c.res = new Response(c.res.body, c.res);
    addMissing(c.res.headers);
  }
});

/** Not by `c.header`, which would copy the answer for each of them. */
function addMissing(to: Headers): void {
  const requestId = requestIdNow();
  if (requestId !== undefined) to.set(requestIdHeader, requestId);
  for (const [name, value] of headers) if (!to.has(name)) to.set(name, value);
}
