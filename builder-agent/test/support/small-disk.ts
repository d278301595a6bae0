import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "./agent-place.ts";

/** A state directory on a small in-memory file system, which can be filled safely. Needs root, as the agent does. */
export async function smallDisk(sizeMb = 64) {
  const dir = await temporaryDir();
  const stateDir = join(dir.path, "state");
  mkdirSync(stateDir);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMb}m`, "none", stateDir]);
  return {
    stateDir,
    fill: (mb: number) => writeFileSync(join(stateDir, "ballast"), Buffer.alloc(mb * 1e6)),
    /** Fills it to the last byte. */
    fillUp: () => void spawnSync("dd", ["if=/dev/zero", `of=${join(stateDir, "ballast")}`, "bs=4k"]),
    empty: () => rmSync(join(stateDir, "ballast")),
    async [Symbol.asyncDispose]() {
      execFileSync("umount", [stateDir]);
      await dir[Symbol.asyncDispose]();
    },
  };
}
