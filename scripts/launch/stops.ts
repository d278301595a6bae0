/** What stops things, the latest first. */
export type Stops = { push(stop: () => void | Promise<void>): void };
