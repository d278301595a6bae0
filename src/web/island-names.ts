/** The islands of `src/web/client`. A page loads those whose elements it has: `data-swap` needs `swap.js`. */
export const islandNames = [
  "swap",
  "search",
  "live",
  "again",
  "log",
  "effect",
  "copy",
  "filter",
  "upload",
  "pending",
  "unsaved",
  "shortcuts",
  "fullscreen",
  "notify",
] as const;
