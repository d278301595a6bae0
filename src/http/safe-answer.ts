import { createMiddleware } from "hono/factory";
import { safeHeaders } from "./safe-headers.ts";
import { requestIdHeader } from "#lib/contract/index";
import { requestIdNow } from "#log/request-id";

const headers = Object.entries(safeHeaders);

/** Adds those of the headers that an answer does not have yet. An answer that opens a WebSocket gets none. */
export const safeAnswer = createMiddleware(async (c, next) => {
  await next();
  if (c.res.webSocket) return;
  try {
    addMissing(c.res.headers);
  } catch {
    // The headers of a fetched answer are read-only.
    c.res = new Response(c.res.body, c.res);
    addMissing(c.res.headers);
  }
});

/** Does not use `c.header`, which would copy the answer for each header. */
function addMissing(to: Headers): void {
  const requestId = requestIdNow();
  if (requestId !== undefined) to.set(requestIdHeader, requestId);
  for (const [name, value] of headers) if (!to.has(name)) to.set(name, value);
}
