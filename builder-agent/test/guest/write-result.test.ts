import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeResult } from "../../src/guest/write-result.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { header, member, theEnd } from "./tar-bytes.ts";

const MiB = 1024 * 1024;
const TiB = MiB * MiB;

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

const listIn = (dir: string) =>
  readFileSync(join(dir, "list"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));

describe("a guest's result", () => {
  it("becomes numbered files and an ordered list", async () => {
    await using from = await temporaryDir();
    await using to = await temporaryDir();
    const root = join(from.path, "root");
    mkdirSync(join(root, "a"), { recursive: true });
    writeFileSync(join(root, "a.b"), "2");
    writeFileSync(join(root, "a/deep"), "1");
    linkSync(join(root, "a.b"), join(root, "twin"));
    symlinkSync("../../etc/shadow", join(root, "soft"));
    execFileSync("mknod", [join(root, "null"), "c", "1", "3"]);
    writeFileSync(join(root, "holes"), "begin");
    truncateSync(join(root, "holes"), 64 * MiB);
    const tar = execFileSync("tar", ["-c", "--format=gnu", "--sparse", "-C", from.path, "root"]);

    await writeResult(inPieces(tar), { dir: to.path, maxBytes: 65 * MiB });

    const list = listIn(to.path);
    expect(list.map(({ name }) => name)).toEqual([
      "root",
      "root/a",
      "root/a/deep",
      "root/a.b",
      "root/holes",
      "root/null",
      "root/soft",
      "root/twin",
    ]);
    const at = (name: string) => list.find((each) => each.name === `root/${name}`);
    const contentOf = (name: string) => join(to.path, String(at(name)?.content));
    expect(readFileSync(contentOf("a/deep"), "utf8")).toBe("1");
    expect(contentOf("twin")).toBe(contentOf("a.b"));
    expect(at("soft")).toEqual(expect.objectContaining({ type: "l", target: "../../etc/shadow" }));
    expect(at("null")).toEqual(expect.objectContaining({ type: "c" }));
    const holes = statSync(contentOf("holes"));
    expect([holes.size, holes.blocks * 512 < MiB, holes.mode & 0o777]).toEqual([64 * MiB, true, 0o600]);
    expect(readdirSync(to.path).every((name) => /^(\d+|list)$/.test(name))).toBe(true);
  });

  const limits = { entries: 3, list: 2000 };
  it.each<[string, Buffer[], RegExp]>([
    ["a sparse file of 1 TiB", [header({ flag: "S", realSize: TiB })], /larger than a build/],
    ["a missing TiB", [header({ size: TiB })], /larger than a build/],
    ["a name that leaves the folder", [member({ name: "root/../../evil" }, "x")], /the name/],
    ["an absolute name", [member({ name: "/tmp/evil" }, "x")], /the name/],
    ["a link to a file of the host", [member({ name: "root/a", flag: "1", target: "/etc/shadow" })], /a missing file/],
    [
      "a link through a link",
      [member({ name: "root/a", flag: "2", target: "/etc" }), member({ name: "root/b", flag: "1", target: "root/a" })],
      /a missing file/,
    ],
    ["a file that is cut off", [header({ size: 4096 }), Buffer.alloc(100)], /ends too early/],
    ["too many names", ["1", "2", "3", "4"].map((name) => member({ name, flag: "5" })), /larger than a build/],
    [
      "names that are too long",
      [member({ name: "L", flag: "L" }, "n".repeat(3000)), member({ flag: "5" })],
      /too long/,
    ],
    [
      "a link target that is too long",
      [member({ name: "K", flag: "K" }, "n".repeat(3000)), member({ flag: "2" })],
      /too long/,
    ],
  ])("is refused with %s", async (_, members, why) => {
    await using to = await temporaryDir();
    const bytes = Buffer.concat(why.source === "ends too early" ? members : [...members, theEnd]);
    await expect(writeResult(inPieces(bytes), { dir: to.path, maxBytes: MiB, limits })).rejects.toThrow(why);
    expect(readdirSync(to.path).filter((name) => !/^\d+$/.test(name))).toEqual([]);
  });
});
