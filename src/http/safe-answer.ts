import { createMiddleware } from "hono/factory";
import { safeHeaders } from "./safe-headers.ts";

/** Gives every answer the headers that it does not have already; an answer that opens a WebSocket takes none. */
export const safeAnswer = createMiddleware(async (c, next) => {
  await next();
  if (c.res.webSocket) return;
  for (const [name, value] of Object.entries(safeHeaders)) if (!c.res.headers.has(name)) c.header(name, value);
});
