import { spawnSync } from "node:child_process";

/** The folders with a tsconfig.json, except `test`, whose checks `src` and `scripts` too. */
const typed = ["src/web/client", "builder-agent", "cli"];

/** Whether a file in a copy of the project, and everything compiled with it, type-checks and waits for its promises. */
export function hasRightTypes(folder: string, file: string): boolean {
  const passes = (program: string, ...args: string[]) =>
    spawnSync(`node_modules/.bin/${program}`, args, { cwd: folder, stdio: "ignore" }).status === 0;
  const project = typed.find((one) => file.startsWith(`${one}/`)) ?? "test";
  return passes("tsc", "-p", project) && passes("oxlint", "--type-aware", "-c", ".oxlintrc.types.json", file);
}
