/** Functions that stop what was started. The last one is called first. */
export type Stops = { push(stop: () => void | Promise<void>): void };
