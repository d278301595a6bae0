import { describe, expect, it } from "vitest";
import { shownPermissions } from "#lib/contract/file-mode";
import { parseChanges, parseMetadata, type GivenMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";

const refused = (given: GivenMetadata) => expect(() => parseChanges(given)).toThrow(Refusal);

describe("permissions", () => {
  it.each([
    ["644", "644"],
    ["0644", "644"],
    ["00644", "644"],
    ["755", "755"],
    ["04755", "4755"],
    ["4755", "4755"],
    ["000", "000"],
    ["044", "044"],
    ["rw-r--r--", "644"],
    ["-rwxr-x--x", "751"],
    ["rwsr-sr-t", "7755"],
    ["rwSr-Sr-T", "7644"],
    ["---------", "000"],
    ["u=rwx,go=rx", "755"],
    ["a=r,u=rw", "644"],
    ["=rw", "666"],
    ["u=rwxs,g=rx,o=", "4750"],
    ["u=rws,g=rs,o=rt", "7644"],
    ["u=rwx,u=r", "400"],
  ])("%s mean %s", (written, shown) => {
    expect(shownPermissions(parseChanges({ permissions: written }).permissions ?? -1)).toBe(shown);
  });

  it.each([
    "64",
    "7",
    "888",
    "77777",
    "10644",
    "0x1ff",
    "-644",
    "6 44",
    "rw-r--r-",
    "rwxrwxrwxr",
    "u+x",
    "u=q",
    "u",
    "drwxr-xr-x",
  ])("refuse %s", (permissions) => refused({ permissions }));
});

describe("a path", () => {
  it.each([
    ["/", "/"],
    ["etc", "/etc"],
    ["//etc/./x/", "/etc/x"],
    ["/a b/ü/...", "/a b/ü/..."],
    [".", "/"],
  ])("%s means %s", (written, meant) => {
    expect(parseChanges({ path: written })).toEqual({ path: meant });
  });

  it.each([
    "..",
    "/etc/../root",
    "a/..",
    "/a\u0000b",
    "/a\nb",
    "/a\u007f",
    "/a\ud800",
    "/a\ufffd",
    `/${"ü".repeat(128)}`,
  ])("refuses %j", (path) => refused({ path }));

  it("has at most 4095 bytes together with a name", () => {
    const path = `/${"a".repeat(250)}`.repeat(16); // 4016
    expect(parseMetadata({ filename: "b".repeat(78), path }, undefined).path).toBe(path);
    expect(() => parseMetadata({ filename: "b".repeat(79), path }, undefined)).toThrow(/4095 bytes/);
  });
});

describe("a file name", () => {
  it.each(["a", ".profile", "a b", "ü".repeat(127), "-rf", "a\\b", "..."])("accepts %s", (filename) => {
    expect(parseChanges({ filename })).toEqual({ fileName: filename });
  });

  it.each([".", "..", "a/b", "/", "a\tb", "ü".repeat(128), "\ufffe"])("refuses %j", (filename) =>
    refused({ filename }),
  );

  it.each([
    ["/home/tux/a.conf", "a.conf"],
    ["C:\\a.conf", "a.conf"],
    ["a.conf", "a.conf"],
  ])("of %s defaults to %s", (sent, fileName) => {
    expect(parseMetadata({}, sent)).toMatchObject({ fileName });
    expect(parseMetadata({ filename: "given" }, sent)).toMatchObject({ fileName: "given" });
  });

  it.each([undefined, "", "/home/tux/", "/home/.."])("is required if the file is sent as %j", (sent) => {
    expect(() => parseMetadata({}, sent)).toThrow(/filename/);
  });
});

describe("an owner", () => {
  it.each(["root", "nobody", "_apt", "www-data", "systemd-network", "pc$", "Admin.User_1", "0", "1000", "4294967294"])(
    "accepts %s",
    (owner) => expect(parseChanges({ owner, group: owner })).toEqual({ owner, group: owner }),
  );

  it.each(["a b", "a:b", "-a", "1a", "ü", "a\n", "4294967295", "99999999999", "a".repeat(33), "$a"])(
    "refuses %j",
    (owner) => {
      refused({ owner });
      refused({ group: owner });
    },
  );
});
