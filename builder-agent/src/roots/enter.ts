import { fileURLToPath } from "node:url";
import { shims } from "../run/kiwi.ts";

const script = fileURLToPath(new URL("../../roots/enter.sh", import.meta.url));

/** The same command in a builder root, or on this host if there is none. It needs the namespaces of `enclosed`. */
export function inRoot(
  root: { file: string } | undefined,
  workDir: string,
  [command, args]: [command: string, args: string[]],
): [command: string, args: string[]] {
  if (!root) return [command, args];
  return ["sh", [script, root.file, workDir, shims, command, ...args]];
}
