import { spawnSync } from "node:child_process";

/** The folders with a tsconfig.json, except `test`, whose checks `src` and `scripts` too. */
const typed = ["src/web/client", "builder-agent", "cli"];

/** Whether a file of a copy of the project, and all that is checked with it, has the right types. */
export function hasRightTypes(folder: string, file: string): boolean {
  const project = typed.find((one) => file.startsWith(`${one}/`)) ?? "test";
  return spawnSync("node_modules/.bin/tsc", ["-p", project], { cwd: folder, stdio: "ignore" }).status === 0;
}
