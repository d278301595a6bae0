import { link } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { FrozenInput } from "../contract.ts";
import { findRoot, type StoredRoot } from "./store.ts";

/** Stands for the tools of this host, in place of a builder root. */
export const hostTools = "host";

/**
 * The builder root of a build: the one that its base system names, otherwise the agent's. Undefined means this host's
 * tools. The build gets its own link to the file, because KIWI runs twice in it and the operator may make a newer root
 * in between.
 */
export async function rootOfBuild(
  { stateDir, root: byDefault, workDir }: Pick<Config, "stateDir" | "root"> & { workDir: string },
  { builderRoot = byDefault }: Pick<FrozenInput, "builderRoot">,
): Promise<StoredRoot | undefined> {
  if (builderRoot === hostTools) return undefined;
  const root = await findRoot(stateDir, builderRoot);
  if (!root) throw new Error(`this agent no longer has the builder root ${builderRoot}`);
  const file = join(workDir, "builder-root.squashfs");
  await link(root.file, file);
  return { ...root, file };
}

/**
 * The tools of a build, for its report, its log and the keys of prepared roots. The given `builder` is KIWI's version on
 * this host.
 */
export function toolsOf(root: StoredRoot | undefined, { builder }: { builder: string }) {
  if (!root) return { facts: { builder }, key: builder, said: `KIWI ${builder}` };
  const { sha256, facts } = root;
  return {
    facts: { builder: facts.builder, builderRoot: { name: facts.name, sha256 } },
    key: `${facts.builder} in ${sha256}`,
    said: `KIWI ${facts.builder} in the builder root ${facts.name}, sha256 ${sha256}`,
  };
}
