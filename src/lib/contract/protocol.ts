/**
 * The version of these messages. Raise it by one whenever the other side must know: a new call, a field that is
 * required, a meaning that changed. Each side also supports the previous version, so Worker and agents can be upgraded
 * one after the other.
 */
export const protocolVersion = 1;

/** Whether a protocol version is supported. Default: 0, the version of agents and Workers that did not state one. */
export const isServed = (other = 0): boolean => other >= protocolVersion - 1;
