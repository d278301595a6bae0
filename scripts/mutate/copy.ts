import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../launch/project.ts";

/** The copy's folder. It is on the project's file system, because packages are hard links, and git ignores it. */
const folder = join(projectRoot, ".kiln/mutate");

/** Paths that git ignores but tests need. */
const built = ["dist", "src/lib/solver/native/solver.wasm", "src/lib/solver/native/probe.wasm"];

/** A copy of the project as it is now, with its uncommitted changes. Only this copy ever contains a mutant. */
export function copyProject(): string {
  removeCopy(); // left by a killed run
  for (const file of [...projectFiles(), ...built]) {
    if (existsSync(join(projectRoot, file))) cpSync(join(projectRoot, file), join(folder, file), { recursive: true });
  }
  for (const part of [".", ...readdirSync(projectRoot)].filter((one) =>
    existsSync(join(projectRoot, one, "node_modules")),
  )) {
    execFileSync("cp", ["-al", join(projectRoot, part, "node_modules"), join(folder, part, "node_modules")]);
  }
  return folder;
}

export const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });

/** All files of the project that git does not ignore. */
export const projectFiles = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: projectRoot,
    encoding: "utf8",
  })
    .split("\n")
    .filter(Boolean);
