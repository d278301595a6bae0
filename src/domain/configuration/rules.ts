import { Buffer } from "node:buffer";
import { isIPv4, isIPv6 } from "node:net";

/* The valid values of single settings. */

/** Text for people, without characters that XML cannot contain. Line breaks are LF only. */
export const isText = (text: string): boolean =>
  text.isWellFormed() && !/[\u0000-\u0008\u000b-\u001f\u007f\ufffe\uffff]/.test(text);

/** One line of text for people, without surrounding white space, which clients' documents cannot express. */
export const isLine = (text: string, max: number): boolean => isOneLine(text, max) && text.trim() === text;

const isOneLine = (text: string, max: number): boolean => isText(text) && !/[\t\n]/.test(text) && text.length <= max;

export const isVersion = (text: string): boolean => /^(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3})){2}$/.test(text);

/** A host name of RFC 1123 §2.1, at most as long as Linux allows. */
export const isHostname = (text: string): boolean =>
  text.length <= 64 &&
  text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label)) &&
  !isIPv4(text);

/**
 * Returns 4 or 6, or undefined if the address is invalid. A zone such as `%eth0` is refused, because it is specific to
 * one machine.
 */
export function addressFamily(text: string): 4 | 6 | undefined {
  if (isIPv4(text)) return 4;
  return isIPv6(text) && !text.includes("%") ? 6 : undefined;
}

/** Accepts `255.255.255.0` with contiguous ones, or a prefix length: `24`, `/24`. */
export function isNetmask(text: string, family: 4 | 6): boolean {
  const [, length] = /^\/?(\d{1,3})$/.exec(text) ?? [];
  if (length !== undefined) return Number(length) >= 1 && Number(length) <= (family === 4 ? 32 : 128);
  if (family === 6 || !isIPv4(text)) return false;
  const bits = text.split(".").map((byte) => Number(byte).toString(2).padStart(8, "0"));
  return /^1+0*$/.test(bits.join(""));
}

/** A number or a service's name (RFC 6335 §5.1), with an optional `/tcp` or `/udp`. */
export function isPort(text: string): boolean {
  const [, port = ""] = /^([^/]+)(?:\/(?:tcp|udp))?$/.exec(text) ?? [];
  if (/^\d+$/.test(port)) return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  return /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/i.test(port);
}

/** `de_DE.UTF-8`: images use UTF-8. */
export const isLocale = (text: string): boolean => /^[a-z]{2,3}_[A-Z]{2}\.UTF-8$/.test(text);

/** A zone of the tz database, with the exact case of its file name: `Europe/Vienna`. */
export function isTimezone(text: string): boolean {
  if (text.length > 64 || !/^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*){0,2}$/.test(text)) return false;
  try {
    const known = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone;
    // Intl ignores case, files do not.
    return known === text || known.toLowerCase() !== text.toLowerCase();
  } catch {
    return false;
  }
}

/** Names of users and groups that useradd accepts. */
export const isUserName = (text: string): boolean => /^[a-z_][a-z0-9_-]{0,31}$/.test(text);

/** A normalised absolute path: no `..`, no double and no trailing slash. `/` alone is refused. */
export const isPath = (text: string): boolean =>
  text.length <= 255 && /^(\/[A-Za-z0-9._+@-]+)+$/.test(text) && !/\/\.{1,2}(\/|$)/.test(text);

/**
 * A password that can be typed: one line, not empty. It may begin or end with a space. The length is limited, because
 * each byte makes the hash slower.
 */
export const isPassword = (text: string): boolean =>
  text !== "" && isOneLine(text, 128) && Buffer.byteLength(text) <= 128;

/** Names of databases and of their users that need no quotes. */
export const isSqlName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,31}$/.test(text);

/**
 * Names that the server keeps for itself. PostgreSQL refuses to make them, and then makes nothing that follows. MySQL
 * has the user mysql already, and would keep its password. Its root is accepted, and stays as it is.
 */
export const reservedSqlNames = {
  pgsql: { user: /^(pg_.*|public|none)$/, database: /^template0$/ },
  mysql: { user: /^mysql$/, database: /^(information|performance)_schema$/i },
} as const;

export function isWebsite(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && isLine(text, 2048) && URL.canParse(text);
}
