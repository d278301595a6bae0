import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, constants, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shims } from "../../src/run/kiwi.ts";
import { temporaryDir } from "../support/agent-place.ts";

const run = (...command: string[]) => spawnSync("python3", ["-BES", join(shims, "clones.py"), ...command]);
const clone = `import fcntl, os, sys
os.umask(0o077)
source = os.open(sys.argv[1], os.O_RDONLY)
target = os.open(sys.argv[2], os.O_CREAT | int(sys.argv[3]), 0o600)
fcntl.ioctl(target, 0x40049409, source)`;
const cloned = (source: string, target: string, flags = constants.O_WRONLY) =>
  run("/usr/bin/python3", "-c", clone, source, target, String(flags));

describe("a program that clones files", () => {
  it("gets copies, with all permissions, also where the file system has no clones", async () => {
    await using dir = await temporaryDir();
    const [source, target] = [join(dir.path, "source"), join(dir.path, "target")];
    for (const bytes of [Buffer.alloc(0), randomBytes(3_000_001)]) {
      writeFileSync(source, bytes);
      chmodSync(source, 0o775);

      expect(cloned(source, target)).toMatchObject({ status: 0 });

      expect(readFileSync(target).equals(bytes)).toBe(true);
      expect(statSync(target).mode & 0o7777).toBe(0o775);
    }
  });

  it("must copy a file itself that it would not keep as it is, and cannot write where it may not", async () => {
    await using dir = await temporaryDir();
    const [source, target] = [join(dir.path, "source"), join(dir.path, "target")];
    writeFileSync(source, "content");

    expect(String(cloned(source, target, constants.O_RDONLY).stderr)).toContain("Operation not supported");
    chmodSync(source, 0o4755);
    expect(String(cloned(source, target).stderr)).toContain("Operation not supported");

    expect(readFileSync(target, "utf8")).toBe("");
  });

  it("ends with the usual exit code", () => {
    expect(run("/bin/sh", "-c", "exit 7").status).toBe(7);
    expect(run("/bin/sh", "-c", "kill -9 $$").status).toBe(128 + 9);
  });
});
