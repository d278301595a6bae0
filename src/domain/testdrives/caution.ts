import { identityAt, isSecretPath, shellHistory, type ModifiedFile } from "#lib/contract/index";

/**
 * Why a file that a session has changed should not be in copies of an appliance: it is a secret, it identifies a
 * machine, it is a log or a cache, it is the state of one machine, or it is too large to be written by a person.
 */
export type Caution = "secret" | "identity" | "log" | "state" | "large";

/** People rarely edit files of this size. Swap files and databases are larger. */
const largeBytes = 64 * 1024 * 1024;

/** Regular expressions for the beginning of a path. */
const logs = [String.raw`/(?:run|tmp|dev|proc|sys)/`, String.raw`/var/(?:cache|log|tmp|run|spool)/`, "/lost\\+found/"];
const states = [
  // State of one machine, written by the service's own boot program and by the distributions' programs.
  "/var/lib/(?:kiln|systemd|dhcp[^/]*|NetworkManager|wicked|dbus|chrony|ntp|logrotate|upower|private|plymouth|udisks2)(?:/|$)",
  "/var/lib/(?:misc|apt/(?:periodic|lists)|zypp|PackageKit|polkit-1|sudo|alternatives\\.log)(?:/|$)",
  String.raw`/(?:etc|var)/\.(?:updated|pwd\.lock)$`,
  String.raw`/etc/(?:resolv\.conf|adjtime|mtab|ld\.so\.cache|blkid\.tab|(?:passwd|group|subuid|subgid)-)$`,
  String.raw`/boot/(?:grub2?|efi)/(?:.*/)?grubenv$`,
  String.raw`(?:/.*)?/(?:swap(?:file)?|[^/]*\.(?:swap|updated))$`,
  String.raw`/swap[^/]*$`,
];
const oneOf = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join("|")})`, "s");
const [isLog, isState] = [oneOf(logs), oneOf(states)];

/** Undefined if the path and size suggest that a person or a service has changed the file on purpose. */
export function cautionOf({ path, type, size }: Pick<ModifiedFile, "path" | "type" | "size">): Caution | undefined {
  if (isSecretPath(path)) return "secret";
  if (identityAt(path)) return "identity";
  if (isLog.test(path)) return "log";
  if (isState.test(path) || shellHistory.test(path)) return "state";
  return type === "f" && size > largeBytes ? "large" : undefined;
}
