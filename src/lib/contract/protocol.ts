/**
 * The version of these messages. Raise it by one whenever the other side must know: a new call, a field that is required, a meaning
 * that changed. Each side serves the version before as well, so Worker and agents can be upgraded one after the other.
 */
export const protocolVersion = 1;

/** Absent from a message: 0, of agents and Workers that did not say it. */
export const isServed = (other = 0): boolean => other >= protocolVersion - 1;
