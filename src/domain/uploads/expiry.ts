/** How long an upload exists after its last bytes. */
const patienceMs = 24 * 60 * 60_000;

export const expiryOf = (now: number): Date => new Date(now + patienceMs);
