/**
 * Cloudflare's list prices of November 2026 on the Workers Paid plan, in US dollars a month. Sources, below
 * https://developers.cloudflare.com: workers/platform/pricing, durable-objects/platform/pricing, d1/platform/pricing,
 * r2/pricing and queues/platform/pricing.
 */
export const plan = 5;

const million = 1e6;

/** The price of each amount beyond the included one. */
export const prices = {
  requests: { words: "requests to the Worker", included: 10 * million, usd: 0.3 / million },
  calls: { words: "requests to objects", included: 1 * million, usd: 0.15 / million },
  awake: { words: "GB-seconds of objects that are awake", included: 400_000, usd: 12.5 / million },
  objectRows: { words: "rows written in objects", included: 50 * million, usd: 1 / million },
  rowsRead: { words: "rows read in D1", included: 25_000 * million, usd: 0.001 / million },
  rowsWritten: { words: "rows written in D1", included: 50 * million, usd: 1 / million },
  stored: { words: "GB stored in R2", included: 10, usd: 0.015 },
  r2Writes: { words: "class A operations of R2", included: 1 * million, usd: 4.5 / million },
  r2Reads: { words: "class B operations of R2", included: 10 * million, usd: 0.36 / million },
  queueOperations: { words: "operations of queues", included: 1 * million, usd: 0.4 / million },
} as const;

export type Amount = keyof typeof prices;

/** The memory of an object, in GB, that is billed while it is active. */
export const objectGb = 0.128;

/** Each message is written, read and deleted. */
export const operationsOfMessage = 3;

/** About how many queries per second one D1 database can answer if each takes a millisecond (d1/platform/limits). */
export const queriesPerSecond = 1000;

/** The monthly price of an amount. */
export const costOf = (of: Amount, amount: number): number =>
  Math.max(0, amount - prices[of].included) * prices[of].usd;
