import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { kiwiEnvironment, kiwiPathsAt, shims } from "../../builder-agent/src/run/kiwi.ts";

const folder = mkdtempSync(join(tmpdir(), "safe-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Packs a root with KIWI NG's own class, as its type tbz does. */
const packer = `
import sys
from kiwi.archive.tar import ArchiveTar
archive = ArchiveTar(sys.argv[2], True, sys.argv[3:])
archive.create_xz_compressed(sys.argv[1], exclude=["image"], xz_options=["-0", "--threads=1"])
`;
const program = join(folder, "packer");
writeFileSync(program, packer);

/** The names in the archive of that root, or of some of its files. */
function packed(root: string, ...files: string[]): string[] {
  execFileSync("/usr/bin/python3", [join(shims, "loaded.py"), program, root, `${root}.tar`, ...files], {
    cwd: folder,
    env: kiwiEnvironment(kiwiPathsAt(folder)),
    input: "",
    stdio: "pipe",
  });
  const options = ["--quoting-style=literal", "-tf", `${root}.tar.xz`];
  return execFileSync("tar", options, { encoding: "utf8" }).trim().split("\n");
}

describe("the root of a container that KIWI NG packs", () => {
  it("has each file in /, whatever its name", () => {
    const root = join(folder, "root");
    mkdirSync(join(root, "etc"), { recursive: true });
    mkdirSync(join(root, "image"));
    const names = ["read me", "a&touch ran;b", "$(touch ran)", "it's", "--exclude=etc", "*", "plain"];
    for (const name of names) writeFileSync(join(root, name), "");

    expect(packed(root).toSorted()).toEqual([...names, "etc/"].toSorted());
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  it("is an error if tar fails", () => {
    const root = join(folder, "incomplete");
    mkdirSync(root);
    writeFileSync(join(root, "there"), "");
    expect(packed(root, "there")).toEqual(["there"]);
    expect(() => packed(root, "there", "missing")).toThrow("Cannot stat: No such file");
  });
});
