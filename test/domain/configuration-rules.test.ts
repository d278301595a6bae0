import { expect, it } from "vitest";
import * as rules from "#domain/configuration/rules";

/** Texts that each rule accepts, and texts that it refuses. */
const table: [string, (text: string) => unknown, string[], string[]][] = [
  ["isText", rules.isText, ["", "a\n\tb", "Grüße 🐧"], ["a\rb", "a\u0000", "\u001b[0m", "\uffff", "\ud800"]],
  ["isLine", (text) => rules.isLine(text, 5), ["", "12345", "a b"], ["123456", "a\nb", "a\tb", " a", "a\u00a0"]],
  ["isVersion", rules.isVersion, ["0.0.1", "9999.10.0"], ["1.0", "0.0.0.1", "1.0.x", "01.0.0", "0.0.10000", "-1.0.0"]],
  [
    "isHostname",
    rules.isHostname,
    ["kiosk7", "a", "7", "kiosk.example.org", "K-7"],
    ["", "-a", "a-", "a_b", "a..b", "a.", "a b", "1.2.3.4", "a".repeat(64), `a.${"b".repeat(63)}`],
  ],
  [
    "addressFamily",
    rules.addressFamily,
    ["10.11.12.13", "::1", "2001:db8::7"],
    ["", "10.11.12", "10.11.12.256", "010.1.1.1", "fe80::1%eth0", "host", "1.2.3.4/24"],
  ],
  [
    "isNetmask of IPv4",
    (text) => rules.isNetmask(text, 4),
    ["255.255.255.0", "255.255.255.255", "128.0.0.0", "24", "/24", "32"],
    ["255.0.255.0", "0.0.0.0", "0", "33", "255.255.255", "24/", ""],
  ],
  ["isNetmask of IPv6", (text) => rules.isNetmask(text, 6), ["64", "/128"], ["129", "255.255.255.0", "ffff::"]],
  [
    "isPort",
    rules.isPort,
    ["ssh", "http", "8080", "53/udp", "65535", "ms-sql-s", "http/tcp", "9pfs"],
    ["", "0", "65536", "080", "-ssh", "ssh-", "a--b", "a".repeat(16), "ssh/sctp", "1:2", "ssh http", "/tcp"],
  ],
  [
    "isLocale",
    rules.isLocale,
    ["de_DE.UTF-8", "ast_ES.UTF-8"],
    ["de", "de_DE", "de_DE.utf8", "POSIX", "x\nde_DE.UTF-8"],
  ],
  [
    "isTimezone",
    rules.isTimezone,
    [
      "Europe/Vienna",
      "UTC",
      "America/Argentina/Buenos_Aires",
      "US/Eastern",
      "Etc/GMT+5",
      "Asia/Kolkata",
      "Asia/Calcutta",
    ],
    ["", "europe/vienna", "Europe/vienna", "utc", "+01:00", "Europe/Atlantis", "../etc/passwd", "Europe/../UTC"],
  ],
  [
    "isUserName",
    rules.isUserName,
    ["root", "_www", "clerk-2"],
    ["", "Clerk", "2nd", "a b", "a:b", "a".repeat(33), "-x"],
  ],
  [
    "isPath",
    rules.isPath,
    ["/root", "/home/clerk", "/usr/bin/..x", "/a.b/c"],
    ["", "/", "home", "/a/", "//a", "/a//b", "/a/..", "/../a", "/a/./b", "/a b", "/a:b", `/${"a".repeat(255)}`],
  ],
  ["isPassword", rules.isPassword, ["x", "a:b c$ü", " a "], ["", "a\nb", "x".repeat(129)]],
  ["isSqlName", rules.isSqlName, ["tickets_prod", "_a1"], ["", "1a", "a-b", "a;b", "a b", "a".repeat(33)]],
  [
    "isWebsite",
    rules.isWebsite,
    ["https://kiosk.example.org", "http://a/b?c#d"],
    ["kiosk.example.org", "ftp://a", "javascript:alert(1)", "https://", "https:///a", "https://a b", "http://[::"],
  ],
];

it.each(table)("%s accepts what is right and refuses what is wrong", (_name, rule, right, wrong) => {
  for (const text of right) expect(Boolean(rule(text)), text).toBe(true);
  for (const text of wrong) expect(Boolean(rule(text)), text).toBe(false);
});
