import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { takeOverlay } from "../../src/snapshot/files.ts";
import { temporaryDir } from "../support/agent-place.ts";

const makeDisk = (path: string, ...options: string[]) =>
  execFileSync("qemu-img", ["create", "-q", "-f", "qcow2", ...options, path, "1M"]);

describe("the disk after a boot", () => {
  it("moves into the snapshot if it is a plain qcow2", async () => {
    await using dir = await temporaryDir();
    const [from, to] = [join(dir.path, "overlay.qcow2"), join(dir.path, "kept.qcow2")];
    makeDisk(from);

    await takeOverlay(from, to);

    expect([existsSync(from), existsSync(to)]).toEqual([false, true]);
  });

  it("may be missing", async () => {
    await using dir = await temporaryDir();
    await expect(takeOverlay(join(dir.path, "none"), join(dir.path, "kept"))).resolves.toBeUndefined();
    expect(existsSync(join(dir.path, "kept"))).toBe(false);
  });

  it.each<[string, (path: string, secret: string) => void]>([
    ["keeps its data in another file", (path, secret) => makeDisk(path, "-o", `data_file=${secret},data_file_raw=on`)],
    ["is not a qcow2", (path) => writeFileSync(path, "raw bytes")],
    ["is a link", (path, secret) => symlinkSync(secret, path)],
  ])("is refused if it %s", async (_, make) => {
    await using dir = await temporaryDir();
    const [from, to] = [join(dir.path, "overlay.qcow2"), join(dir.path, "kept.qcow2")];
    const secret = join(dir.path, "secret");
    makeDisk(secret);
    make(from, secret);
    const before = readFileSync(secret);

    await expect(takeOverlay(from, to)).rejects.toThrow();

    expect(existsSync(to)).toBe(false);
    expect(readFileSync(secret)).toEqual(before);
  });
});
