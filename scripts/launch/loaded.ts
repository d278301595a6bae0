import { join } from "node:path";
import { z } from "zod";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/** What the launcher has put into the service of a state directory, by hash, so that the next start need not. */
const Loaded = z.record(z.string(), z.string());

/** Does the work when the hash is not the one that was loaded under this name. */
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

// A lost or broken file costs a reload, nothing else.
function read(path: string): Record<string, string> {
  try {
    return Loaded.parse(JSON.parse(readIfThere(path) ?? "{}"));
  } catch {
    return {};
  }
}
