import { readFileSync } from "node:fs";

/** First user id of a range that systemd's table of ids leaves unused. */
export const firstSessionUid = 1_879_048_192;
/** User and group that own nothing. */
export const nobody = 65_534;

const isRoot = () => process.getuid?.() === 0;

/**
 * What a session's QEMU may do. Started as root it opens its files and sockets and then becomes a user of its own, so that
 * a guest that breaks out finds neither the host's files nor another session's process.
 */
export function rightsOfSession(testdriveId: number): string[] {
  const uid = userOfSession(testdriveId);
  const sandbox = ["-sandbox", "on,obsolete=deny,spawn=deny,resourcecontrol=deny"];
  return uid === undefined ? sandbox : [...sandbox, "-runas", `${uid}:${uid}`];
}

/** The user, and the group of the same number, that a session's QEMU becomes; undefined: it stays the agent's. */
export function userOfSession(testdriveId: number): number | undefined {
  if (!isRoot()) return undefined;
  return hasManyUsers() ? firstSessionUid + (testdriveId % 65_536) : nobody;
}

/** A command that reads input of untrusted users, run as the user `nobody`. */
export function asNobody(command: string, args: string[]): [command: string, args: string[]] {
  if (!isRoot()) return ["setpriv", ["--no-new-privs", "--", command, ...args]];
  const identity = ["--reuid", String(nobody), "--regid", String(nobody), "--clear-groups"];
  return ["setpriv", [...identity, "--no-new-privs", "--", command, ...args]];
}

/** In a rootless container there are only the 65,536 users that its map gives it. */
export function hasManyUsers(): boolean {
  const [, , count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
  return Number(count) > firstSessionUid + 65_536;
}
