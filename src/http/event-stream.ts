/** Headers of server-sent events: no proxy on the way may store or collect them. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // no-transform and the second header keep proxies from collecting events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
