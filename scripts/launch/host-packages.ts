import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  type Distribution,
  getDistribution,
  findTool,
  installers,
  type Tool,
} from "../../builder-agent/src/doctor/packages.ts";
import { command } from "./command.ts";
import { Complaint } from "./complaint.ts";
import { projectRoot } from "./project.ts";
import { print, step, warn } from "./progress.ts";

/** The purposes of host packages, named as in the agent's doctor. */
export const purposes = [
  "oem",
  "iso",
  "UEFI disks",
  "UEFI media",
  "xfs disks",
  "btrfs disks",
  "deb",
  "guests",
  "testdrives",
  "sandbox of testdrives",
  "Secure Boot of testdrives",
  "fast packing",
  "sample-distribution",
  "solver",
  "tests",
] as const;
/** The purposes that only images for arm64 need, which are optional. */
export const purposesOfArm64 = ["arm64 builds", "arm64 testdrives"] as const;
export type Purpose = (typeof purposes | typeof purposesOfArm64)[number] | "32-bit programs";

const HostPackage: z.ZodType<Tool> = z.object({
  tool: z.string(),
  paths: z.array(z.string()).exactOptional(),
  debian: z.string(),
  suse: z.string(),
  fedora: z.string(),
  for: z.array(z.string()),
  why: z.string(),
});

const listFiles = ["builder-agent/src/doctor/packages.json", "scripts/solver/packages.json"];

/** Tools that only the tests need. */
const forTests: Tool[] = [
  testTool("chromium", "opens the pages in the browser tests"),
  testTool("man", "shows the manual of the command line", "man-db"),
  testTool("zsh", "completes commands in the tests of the command line"),
  testTool("fish", "completes commands in the tests of the command line"),
  testTool("sbsign", "signs kernels in the tests of the command line", "sbsigntool"),
  {
    ...testTool("linuxx64.efi.stub", "is signed in these tests", "systemd-boot-efi"),
    paths: ["/usr/lib/systemd/boot/efi/linuxx64.efi.stub"],
  },
];

function testTool(tool: string, why: string, debian = tool): Tool {
  return { tool, debian, suse: tool, fedora: debian, for: ["tests"], why };
}

/** Installs the missing packages for these purposes if possible, and returns those that are still missing. */
export async function installHostPackages(purposes: readonly Purpose[], signal?: AbortSignal): Promise<Tool[]> {
  const missing = await missingPackages(purposes);
  if (missing.length === 0) return [];
  const privilege = rootPrefix();
  if (isDebian() && privilege !== undefined) {
    const names = packageNames(missing, await getDistribution());
    print(`  Host packages to install: ${names.join(" ")}`);
    try {
      await step("Host packages (apt-get)", (say) => aptInstall(names, { privilege, onLine: say, signal }));
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      warn(error.message);
    }
  }
  const left = await missingPackages(purposes);
  if (left.length > 0) await showMissing(left);
  return left;
}

async function showMissing(missing: readonly Tool[]): Promise<void> {
  const distribution = await getDistribution();
  print(`! Missing on this machine: ${missing.map((each) => each.tool).join(", ")}. Install them with:`);
  print(`    sudo ${installers[distribution]} ${packageNames(missing, distribution).join(" ")}`);
  if (missing.some(({ tool }) => tool === "kiwi-ng")) {
    print("  If your system has no such package (Debian 13 has no KIWI): docs/operations/builder-roots.md");
  }
}

const packageNames = (tools: readonly Tool[], distribution: Distribution): string[] => [
  ...new Set(tools.map((each) => each[distribution])),
];

/** The missing tools for these purposes. */
export async function missingPackages(wanted: readonly Purpose[]): Promise<Tool[]> {
  const found = packagesFor(wanted).map(async (each) => ((await findTool(each)) === undefined ? [each] : []));
  return (await Promise.all(found)).flat();
}

export function packagesFor(wanted: readonly Purpose[]): Tool[] {
  const names = new Set<string>(wanted);
  return allPackages().filter((each) => each.for.some((purpose) => names.has(purpose)));
}

/** The purposes that need a missing package. */
export function impossible(missing: readonly Tool[], purposes: readonly Purpose[]): Purpose[] {
  return purposes.filter((purpose) => missing.some((each) => each.for.includes(purpose)));
}

const allPackages = (): Tool[] => [...listFiles.flatMap(readPackages), ...forTests];

const readPackages = (file: string): Tool[] =>
  z.array(HostPackage).parse(JSON.parse(readFileSync(join(projectRoot, file), "utf8")));

/** Whether apt exists. Only then can Kiln install missing packages, and make Tiny Linux from Debian's packages. */
export const isDebian = () => existsSync("/usr/bin/apt-get");

/** The prefix for a command that only root may run. Undefined if this user cannot become root. */
function rootPrefix(): string[] | undefined {
  if (process.getuid?.() === 0) return ["env"];
  const sudo = ["/usr/bin/sudo", "/bin/sudo"].find((path) => existsSync(path));
  if (sudo === undefined) return undefined;
  // Without a terminal, sudo cannot ask for a password.
  return process.stdin.isTTY ? [sudo, "env"] : [sudo, "-n", "env"];
}

type AptOptions = { privilege: readonly string[]; onLine: (line: string) => void; signal: AbortSignal | undefined };

async function aptInstall(names: readonly string[], { privilege, onLine, signal }: AptOptions): Promise<void> {
  // On a fresh machine another apt may be running, so wait up to five minutes for it.
  const apt = ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"];
  const [program = "env", ...before] = privilege;
  const run = (...args: string[]) => command(program, [...before, ...apt, ...args], { onLine, signal });
  await run("update");
  const known = await namesThatAptKnows(names, signal);
  if (known.length > 0) await run("install", "-y", "--no-install-recommends", ...known);
}

/** The packages that apt can install. If one name is unknown, `apt-get install` installs none of them. */
async function namesThatAptKnows(names: readonly string[], signal: AbortSignal | undefined): Promise<string[]> {
  const printed = await command("apt-cache", ["policy", ...names], { env: { ...process.env, LC_ALL: "C" }, signal });
  const found = printed.matchAll(/^(\S+):\n  Installed: .*\n  Candidate: (?!\(none\))/gm);
  const known = new Set([...found].map(([, name]) => name));
  return names.filter((name) => known.has(name));
}
