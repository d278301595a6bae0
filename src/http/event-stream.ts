/** Headers of server-sent events, which proxies must not store or buffer. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // no-transform and the next header stop proxies from buffering events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
