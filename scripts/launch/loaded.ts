import { join } from "node:path";
import { z } from "zod";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/** The hashes of what the launcher has loaded into a state directory's service, so that the next start can skip it. */
const Loaded = z.record(z.string(), z.string());

/** Does the work, unless this hash is already loaded under this name. */
export async function loadOnce(
  stateDirectory: string,
  name: string,
  hash: string,
  work: () => Promise<void>,
): Promise<void> {
  const path = join(stateDirectory, "loaded.json");
  const loaded = read(path);
  if (loaded[name] === hash) return;
  await work();
  writePrivateFile(path, `${JSON.stringify({ ...read(path), [name]: hash }, null, 2)}\n`);
}

// If the file is lost or damaged, everything is simply loaded again.
function read(path: string): Record<string, string> {
  try {
    return Loaded.parse(JSON.parse(readIfThere(path) ?? "{}"));
  } catch {
    return {};
  }
}
