import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGuestResult } from "../../src/guest/read-result.ts";
import { userOfBuild } from "../../src/guest/user.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { member, theEnd } from "./tar-bytes.ts";

const directory = (name: string) => member({ name, flag: "5" });

/** Reads a result disk with these members; `maxBytes` is 1 MiB. */
async function read(workDir: string, members: Buffer[]) {
  const disk = join(workDir, "result.raw");
  writeFileSync(disk, Buffer.concat([...members, theEnd, Buffer.alloc(64 * 1024)]), { mode: 0o600 });
  const target = join(workDir, "target");
  await mkdir(target);
  const prepared = join(workDir, "kept");
  const reading = { disk, dir: join(workDir, "result"), target, prepared, user: userOfBuild(1), maxBytes: 1024 * 1024 };
  return await readGuestResult({ ...reading, signal: AbortSignal.timeout(200_000) });
}

const found = async (tree: Awaited<ReturnType<typeof read>>) => {
  const entries = [];
  for await (const entry of tree.entries()) entries.push(entry);
  return entries;
};

describe("readGuestResult", () => {
  it("reads KIWI's files, and returns the image's tree in order", async () => {
    await using dir = await temporaryDir();
    const tree = await read(dir.path, [
      directory("target/"),
      member({ name: "target/Kiosk.raw" }, "the disk"),
      member({ name: "target/Kiosk.packages" }, "hello"),
      directory("root/"),
      member({ name: "root/a.b" }, "2"),
      directory("root/a/"),
      member({ name: "root/a/deep", uid: 1000 }, "1"),
      directory("root/etc/"),
      member({ name: "root/etc/passwd" }, "root:x:0:0:\nguide:x:1000:1000:\n"),
      member({ name: "root/etc/soft", flag: "2", target: "../../../etc/shadow" }),
      member({ name: "root/twin", flag: "1", target: "root/a.b" }),
    ]);

    expect(readFileSync(join(dir.path, "target/Kiosk.raw"), "utf8")).toBe("the disk");
    expect(statSync(join(dir.path, "target/Kiosk.raw"))).toMatchObject({ uid: 0, gid: 0 });
    const entries = await found(tree);
    expect(entries.map(({ path }) => path)).toEqual("/ /a /a/deep /a.b /etc /etc/passwd /etc/soft /twin".split(" "));
    const at = (path: string) => entries.find((each) => each.path === path);
    expect(at("/a/deep")).toMatchObject({ type: "f", uid: 1000, mode: 0o644, size: 1 });
    expect(readFileSync(at("/twin")?.hostPath ?? "", "utf8")).toBe("2");
    expect(at("/etc/soft")).toMatchObject({ type: "l", target: "../../../etc/shadow" });
    expect((await tree.owners()).users.get(1000)).toBe("guide");
  });

  it("accepts names with Unicode line separators", async () => {
    await using dir = await temporaryDir();
    const names = ["\n", "\r", "\u0085", "\u2028", "\u2029"].map((end) => `/a${end}b`);
    const members = names.map((name) => member({ name: Buffer.from(`root${name}`) }, "x"));
    const tree = await read(dir.path, [directory("root"), ...members]);
    expect((await found(tree)).map(({ path }) => path)).toEqual(["/", ...names]);
  });

  it("accepts a root's archive unchanged, and only from its path", async () => {
    await using dir = await temporaryDir();
    const tree = await read(dir.path, [
      directory("kept/"),
      member({ name: "kept/prepared.tar.zst" }, "an archive"),
      member({ name: "kept/other" }, "x"),
      directory("root/"),
    ]);
    expect(readFileSync(join(dir.path, "kept"), "utf8")).toBe("an archive");
    expect(statSync(join(dir.path, "kept"))).toMatchObject({ uid: 0, gid: 0 });
    expect((await found(tree)).map(({ path }) => path)).toEqual(["/"]);
  });

  it.each([
    ["a link", member({ name: "kept/prepared.tar.zst", flag: "2", target: "/etc/passwd" })],
    ["a device", member({ name: "kept/prepared.tar.zst", flag: "4" })],
  ])("refuses an archive that is %s", async (_what, archive) => {
    await using dir = await temporaryDir();
    await read(dir.path, [directory("root/"), archive]);
    expect(existsSync(join(dir.path, "kept"))).toBe(false);
  });

  it("accepts only plain files with plain names as KIWI's", async () => {
    await using dir = await temporaryDir();
    await read(dir.path, [
      member({ name: "target/link.raw", flag: "2", target: "/etc/passwd" }),
      member({ name: "target/device.raw", flag: "4" }),
      directory("target/folder.raw"),
      member({ name: "target/folder.raw/inside" }, "x"),
      member({ name: "target/-rf" }, "x"),
      member({ name: "target/.hidden" }, "x"),
      member({ name: "elsewhere" }, "x"),
      member({ name: "target/good.raw" }, "x"),
    ]);
    expect(readdirSync(join(dir.path, "target"))).toEqual(["good.raw"]);
  });

  it.each<[string, Buffer[], RegExp]>([
    ["names that leave the folder", [member({ name: "target/../../escaped" }, "x")], /the name/],
    [
      "a link to a missing file",
      [member({ name: "root", flag: "1", target: "/etc/passwd" })],
      /a link leads to a missing file/,
    ],
    [
      "more bytes than a build may have",
      [member({ name: "target/a" }, "x".repeat(1024 * 1024 + 1))],
      /larger than a build/,
    ],
    [
      "a huge sparse file",
      [member({ name: "target/a", flag: "S", size: 0, extents: [], realSize: 2 ** 32 })],
      /larger than a build/,
    ],
    ["a name twice", [directory("root"), directory("root/a"), directory("root/a")], /a name appears twice/],
    ["a file twice", [member({ name: "target/a" }, "x"), member({ name: "target/a" }, "y")], /a name appears twice/],
    [
      "a file below a link",
      [directory("root"), member({ name: "root/a", flag: "2", target: "/etc" }), member({ name: "root/a/b" })],
      /has no directory/,
    ],
    [
      "an image that is also in the tree",
      [member({ name: "target/a" }, "x"), directory("root"), member({ name: "root/a", flag: "1", target: "target/a" })],
      /both the image and/,
    ],
    [
      "more files than an image can have",
      Array.from({ length: 101 }, (_, n) => member({ name: `target/a${n}` }, "x")),
      /more files than an image/,
    ],
    ["an invalid tar stream", [Buffer.alloc(512, 0x51)], /not a tar stream/],
  ])("refuses %s", async (_, members, why) => {
    await using dir = await temporaryDir();
    await expect(read(dir.path, members)).rejects.toThrow(why);
    expect(readdirSync(join(dir.path, "target"))).toEqual([]);
    expect(existsSync(join(dir.path, "escaped"))).toBe(false);
  });
});
