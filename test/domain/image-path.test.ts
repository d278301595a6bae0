import { describe, expect, it } from "vitest";
import { orderOf, type FileEntry } from "#lib/contract/index";
import { fileAt } from "#domain/images/path";

const owned = { mode: 0o644, uid: 0, gid: 0 };
const file = (path: string): FileEntry => ({ ...owned, path, type: "f", size: 1, offset: 0, length: 21 });
const link = (path: string, target: string): FileEntry => ({ ...owned, path, type: "l", target });
const dir = (path: string): FileEntry => ({ ...owned, path, type: "d" });

const listed: FileEntry[] = [
  dir("/"),
  dir("/bin"),
  file("/bin/sh"),
  link("/bin/loop", "loop"),
  link("/bin/dangling", "nowhere"),
  { ...owned, path: "/dev", type: "d" },
  { ...owned, path: "/dev/null", type: "c" },
  dir("/etc"),
  file("/etc/a-b"),
  dir("/etc/a"),
  file("/etc/a/b"),
  link("/etc/absolute", "/bin/sh"),
  link("/etc/mtab", "../proc/self/mounts"),
  link("/etc/out", "../../../../bin/sh"),
  file("/etc/passwd"),
  link("/etc/people", "passwd"),
  link("/etc/run", "/var/run"),
  link("/lib", "usr/lib"),
  dir("/usr"),
  dir("/usr/lib"),
  file("/usr/lib/libc.so.6"),
  link("/usr/lib/up", ".."),
  file("/usr/name\u{1f600}"),
  file("/usr/name\uff5e"),
  dir("/var"),
  link("/var/run", "/var/volatile"),
  dir("/var/volatile"),
  file("/var/volatile/pid"),
  ...Array.from({ length: 41 }, (_, nth) =>
    link(`/l${String(nth).padStart(2, "0")}`, `/l${String(nth + 1).padStart(2, "0")}`),
  ),
  file("/l41"),
];
const entries = listed.toSorted((a, b) => (orderOf(a.path) < orderOf(b.path) ? -1 : 1));

const at = async (path: string) => {
  const found = await fileAt(path, async (wanted) =>
    entries.findLast((entry) => orderOf(entry.path) <= orderOf(wanted)),
  );
  return found?.path;
};

describe("a path inside an image", () => {
  it.each([
    ["/bin/sh", "/bin/sh"],
    ["bin/sh", "/bin/sh"],
    ["//bin/./sh", "/bin/sh"],
    ["/etc/a-b", "/etc/a-b"],
    ["/etc/a/b", "/etc/a/b"],
    ["/etc/people", "/etc/passwd"],
    ["/etc/absolute", "/bin/sh"],
    ["/lib/libc.so.6", "/usr/lib/libc.so.6"],
    ["/lib/../lib/libc.so.6", "/usr/lib/libc.so.6"],
    ["/lib/up/lib/libc.so.6", "/usr/lib/libc.so.6"],
    ["/etc/run/pid", "/var/volatile/pid"],
    ["/etc/run/../volatile/pid", "/var/volatile/pid"],
    ["/../../bin/sh", "/bin/sh"],
    ["/etc/../../bin/../bin/sh", "/bin/sh"],
    ["/etc/out", "/bin/sh"],
    ["/usr/name\u{1f600}", "/usr/name\u{1f600}"],
    ["/usr/name\uff5e", "/usr/name\uff5e"],
    ["/l01", "/l41"],
  ])("%s means %s", async (path, expected) => {
    expect(await at(path)).toBe(expected);
  });

  it.each([
    ["the root", "/"],
    ["no file", ""],
    ["a directory", "/etc"],
    ["a directory through a link", "/lib"],
    ["a parent directory", "/etc/a/.."],
    ["a device", "/dev/null"],
    ["a missing file", "/etc/shadow"],
    ["a file in a missing directory", "/opt/x/y"],
    ["a name before all others", "/\u0001"],
    ["a name after all others", "/\uffff"],
    ["something below a file", "/etc/passwd/x"],
    ["a sibling path through a file", "/etc/passwd/../passwd"],
    ["something below a device", "/dev/null/.."],
    ["a link to nothing", "/bin/dangling"],
    ["a link to itself", "/bin/loop"],
    ["a link into a directory of the running system", "/etc/mtab"],
    ["41 links", "/l00"],
  ])("is refused if it means %s", async (_what, path) => {
    expect(await at(path)).toBeUndefined();
  });
});
