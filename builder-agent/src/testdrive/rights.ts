import { readFileSync } from "node:fs";

/** The start of a range of user ids that systemd leaves unused. */
export const firstSessionUid = 1_879_048_192;
/** User and group that own nothing. */
export const nobody = 65_534;

const isRoot = () => process.getuid?.() === 0;

/**
 * QEMU's arguments for the rights of a session. If it is started as root, it opens its files and sockets and then
 * becomes its own user. A guest that breaks out then reaches neither the host's files nor another session's process.
 */
export function rightsOfSession(testdriveId: number): string[] {
  const uid = userOfSession(testdriveId);
  const sandbox = ["-sandbox", "on,obsolete=deny,spawn=deny,resourcecontrol=deny"];
  return uid === undefined ? sandbox : [...sandbox, "-runas", `${uid}:${uid}`];
}

/**
 * The user, and the group with the same number, that a session's QEMU becomes. Undefined if it keeps the agent's user.
 */
export function userOfSession(testdriveId: number): number | undefined {
  if (!isRoot()) return undefined;
  return hasManyUsers() ? firstSessionUid + (testdriveId % 65_536) : nobody;
}

/** The same command, run as the user `nobody`, because it reads input of untrusted users. */
export function asNobody(command: string, args: string[]): [command: string, args: string[]] {
  if (!isRoot()) return ["setpriv", ["--no-new-privs", "--", command, ...args]];
  const identity = ["--reuid", String(nobody), "--regid", String(nobody), "--clear-groups"];
  return ["setpriv", [...identity, "--no-new-privs", "--", command, ...args]];
}

/** A rootless container has only the 65,536 users of its map. */
export function hasManyUsers(): boolean {
  const [, , count] = readFileSync("/proc/self/uid_map", "utf8").trim().split(/\s+/);
  return Number(count) > firstSessionUid + 65_536;
}
