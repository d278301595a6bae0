import { constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAccessible } from "../files.ts";
import { findProgram } from "../programs.ts";
import packages from "./packages.json" with { type: "json" };
import { fileSystems, imageTypes } from "../contract.ts";
import { fine, missing, type Ability, type Check } from "./check.ts";

/** One row of packages.json: a tool of the host, the package that contains it, and what it is for. */
export interface Tool {
  tool: string;
  /** Where to look if it is not a program in PATH. */
  paths?: string[];
  debian: string;
  suse: string;
  fedora: string;
  for: string[];
  why: string;
}

export type Distribution = "debian" | "suse" | "fedora";

/** The command that installs packages. Their names follow it. */
export const installers: Record<Distribution, string> = {
  debian: "apt-get install -y --no-install-recommends",
  suse: "zypper install -y",
  fedora: "dnf install -y",
};

/** One check per tool of packages.json. */
export async function checkTools(): Promise<Check[]> {
  const distribution = await getDistribution();
  return await Promise.all(packages.map((tool) => checkTool(tool, distribution)));
}

export async function checkTool(tool: Tool, distribution: Distribution): Promise<Check> {
  const path = await findTool(tool);
  if (path !== undefined) return fine(tool.tool, path);
  return missing(tool.tool, tool.why, tool.for.filter(isAbility), `${installers[distribution]} ${tool[distribution]}`);
}

/**
 * The first of its paths that exists, or else the program in PATH or in the system's directories, which PATH may lack.
 */
export async function findTool({ tool, paths }: Pick<Tool, "tool" | "paths">): Promise<string | undefined> {
  if (!paths)
    return await findProgram(tool, `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin`);
  for (const path of paths) if (await isAccessible(path, constants.R_OK)) return path;
  return undefined;
}

/** The family whose package names apply. For unknown systems it is Debian, whose packages the launcher can install. */
export async function getDistribution(file = "/etc/os-release"): Promise<Distribution> {
  const release = await readFile(file, "utf8").catch(() => "");
  const ids = release.split("\n").flatMap((line) => /^ID(?:_LIKE)?="?([^"]*)"?$/.exec(line)?.[1]?.split(" ") ?? []);
  if (ids.some((id) => /suse|sles/.test(id))) return "suse";
  if (ids.some((id) => /fedora|rhel|centos/.test(id))) return "fedora";
  return "debian";
}

const abilities: readonly string[] = [
  ...imageTypes,
  "i586",
  "deb",
  "UEFI disks",
  "UEFI media",
  ...fileSystems.map((name) => `${name} disks` as const),
  "guests",
  "testdrives",
  "arm64 testdrives",
  "sample-distribution",
  "tests",
] satisfies Ability[];
const isAbility = (word: string): word is Ability => abilities.includes(word);
