import { stat } from "node:fs/promises";
import { z } from "zod";
import { kiwiEnvironment, makeKiwiPaths } from "../run/kiwi.ts";
import { fileSystems, imageTypes, type RootAbilities } from "../contract.ts";
import type { HostConfig } from "../found-config.ts";
import { sentenceOf } from "../log.ts";
import { ownCommand } from "../own-command.ts";
import { enclosed, outputOf } from "../process.ts";
import { inRoot } from "../roots/enter.ts";
import { clearRoots, listRoots, type StoredRoot } from "../roots/store.ts";
import { sha256OfFile } from "../file-hash.ts";
import { answerLimitMs, degraded, fine, isPossible, missing, type Check } from "./check.ts";
import { checkGuest } from "./guest.ts";
import { checkTool, getDistribution, type Tool } from "./packages.ts";
import packages from "./packages.json" with { type: "json" };
import { scratchDir, verdictStore } from "./doctor-dir.ts";

/** A builder root, and the checks of its tools, which are used instead of this host's. */
export interface CheckedRoot {
  root: StoredRoot;
  report: Check[];
}

/** Tools that run on this host even if KIWI runs in a root. */
const onHost = new Set(["gpgv", "rpmkeys", "qemu-img", "unshare", "pigz", "igzip", "setpriv", "tar"]);

/** Examines each root: its tools, its digest, and whether KIWI answers in it. */
export async function checkRoots(config: HostConfig): Promise<CheckedRoot[]> {
  await clearRoots(config.stateDir);
  const roots = await listRoots(config.stateDir);
  const checked: CheckedRoot[] = [];
  for (const root of roots) checked.push({ root, report: await checkRoot(root, config) });
  return checked;
}

async function checkRoot(root: StoredRoot, config: HostConfig): Promise<Check[]> {
  const digest = await checkDigest(root, config);
  if (digest.state !== "ok") return [digest];
  const answers = config.isolation === "vm" ? await checkGuest({ ...config, root }) : [await checkBare(root, config)];
  return [...answers, ...(await checkToolsIn(root))];
}

/** Reads the whole file only if it has changed since the last check. */
async function checkDigest(root: StoredRoot, { stateDir }: HostConfig): Promise<Check> {
  const { size, mtimeMs, ino } = await stat(root.file);
  const verdicts = verdictStore(stateDir, `root-${root.sha256.slice(0, 16)}`, z.string());
  const key = `${size} ${mtimeMs} ${ino}`;
  const found = (await verdicts.find(key)) ?? (await sha256OfFile(root.file));
  await verdicts.store(key, found);
  if (found === root.sha256) return fine(nameOf(root), "its file is intact");
  return missing(nameOf(root), "its file is damaged, so nothing is built in it", ["builds"], remedy(root));
}

const nameOf = ({ facts }: StoredRoot) => `builder root ${facts.name}`;
const remedy = ({ facts }: StoredRoot) => ownCommand("root", `make ${facts.name}`);

async function checkBare(root: StoredRoot, { stateDir }: HostConfig): Promise<Check> {
  const name = nameOf(root);
  await using dir = await scratchDir(stateDir);
  try {
    const paths = await makeKiwiPaths(dir.path, {}, root.facts.builder);
    const words = Object.entries(kiwiEnvironment(paths)).map(([key, value]) => `${key}=${value}`);
    const asking = inRoot(root, dir.path, ["env", ["-i", ...words, ...asked.split(" ")]]);
    const said = await outputOf(...enclosed(...asking), AbortSignal.timeout(2 * answerLimitMs));
    return fine(name, `${said.trim()} answers in it; ${describe(root)}`);
  } catch (error) {
    const fix = "use a kernel that mounts squashfs and overlay, run the agent as root, or make the root again";
    const [, said = sentenceOf(error)] = sentenceOf(error).split(`${asked}: `);
    return missing(name, said.slice(-300), ["builds"], fix);
  }
}

const asked = "kiwi-ng --version";

const describe = ({ facts, sha256, bytes }: StoredRoot): string =>
  `${facts.packages.length} packages, ${Math.round(bytes / 1e6)} MB, sha256 ${sha256.slice(0, 12)}…`;

/** Tools that only testdrives or tests need come from this host. */
const isOfBuilds = (ability: string): boolean =>
  [...imageTypes, "deb", "i586", "UEFI disks", "UEFI media", ...fileSystems.map((name) => `${name} disks`)].some(
    (one) => one === ability,
  );

async function checkToolsIn({ facts }: StoredRoot): Promise<Check[]> {
  const there = new Set(facts.packages.map(({ name }) => name));
  const distribution = await getDistribution();
  return await Promise.all(
    packages.map(async (tool: Tool) => {
      if (onHost.has(tool.tool) || !tool.for.some(isOfBuilds)) return await checkTool(tool, distribution);
      if (there.has(tool.debian)) return fine(tool.tool, `in the package ${tool.debian} of the root`);
      return { ...(await checkTool({ ...tool, paths: [] }, distribution)), fix: `a root with ${tool.debian}` };
    }),
  );
}

/** What can be built in a root. @param common checks that matter wherever builds run */
export function abilitiesIn({ root, report }: CheckedRoot, common: readonly Check[]): RootAbilities {
  const all = [...common, ...report];
  const { name, builder } = root.facts;
  return {
    name,
    sha256: root.sha256,
    builder,
    imageTypes: imageTypes.filter((type) => isPossible(type, all)),
    packageTypes: isPossible("deb", all) ? ["rpm", "deb"] : ["rpm"],
  };
}

/** One finding per root. An unusable root does not affect builds in other roots or on the host. */
export const summaryOf = ({ root, report }: CheckedRoot): Check => {
  const problem = report.find(({ state, disables }) => state === "missing" && disables.includes("builds"));
  if (!problem) return fine(nameOf(root), `KIWI ${root.facts.builder}; ${describe(root)}`);
  return degraded(nameOf(root), problem.detail, [], problem.fix);
};
