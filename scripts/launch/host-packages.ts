import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { command } from "./command.ts";
import { projectRoot } from "./project.ts";
import { print, step } from "./progress.ts";

/** What a host package is for; the names are those of the agent's doctor. */
export const purposes = [
  "oem",
  "iso",
  "UEFI disks",
  "UEFI media",
  "guests",
  "testdrives",
  "sample-distribution",
  "solver",
  "tests",
] as const;
export type Purpose = (typeof purposes)[number];

export const HostPackage = z.object({
  tool: z.string(),
  /** Where to look when it is no program in PATH. */
  paths: z.array(z.string()).optional(),
  debian: z.string(),
  suse: z.string(),
  fedora: z.string(),
  for: z.array(z.string()),
  why: z.string(),
});
export type HostPackage = z.infer<typeof HostPackage>;

const listFiles = ["builder-agent/src/doctor/packages.json", "scripts/solver/packages.json"];
// A user's PATH often lacks the administrator's folders, where half of these tools are.
const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/local/sbin", "/usr/sbin", "/sbin"];

/** Browser of the tests; the service itself needs none. */
const chromium: HostPackage = {
  tool: "chromium",
  debian: "chromium",
  suse: "chromium",
  fedora: "chromium",
  for: ["tests"],
  why: "opens the pages in the browser tests",
};

/** Installs what is missing for these purposes when it can; gives what is missing still. */
export async function installHostPackages(purposes: readonly Purpose[], signal?: AbortSignal): Promise<HostPackage[]> {
  const missing = missingPackages(purposes);
  if (missing.length === 0) return [];
  const system = packageSystem();
  const names = [...new Set(missing.map((each) => each[system]))];
  const privilege = rootPrefix();
  if (system !== "debian" || privilege === undefined) {
    print(`! Missing on this machine: ${missing.map((each) => each.tool).join(", ")}. Install them with:`);
    print(`    ${installLine(system, names)}`);
    return missing;
  }
  print(`  Host packages to install: ${names.join(" ")}`);
  await step("Host packages (apt-get)", (say) => aptInstall(names, { privilege, onLine: say, signal }));
  return missingPackages(purposes);
}

/** The tools of these purposes that this machine lacks. */
export const missingPackages = (wanted: readonly Purpose[]): HostPackage[] =>
  packagesFor(wanted).filter((each) => !isThere(each));

export function packagesFor(wanted: readonly Purpose[]): HostPackage[] {
  const names = new Set<string>(wanted);
  return allPackages().filter((each) => each.for.some((purpose) => names.has(purpose)));
}

/** The purposes that a lack makes impossible. */
export function impossible(missing: readonly HostPackage[], purposes: readonly Purpose[]): Purpose[] {
  return purposes.filter((purpose) => missing.some((each) => each.for.includes(purpose)));
}

function allPackages(): HostPackage[] {
  const read = (file: string) => z.array(HostPackage).parse(JSON.parse(readFileSync(join(projectRoot, file), "utf8")));
  return [...listFiles.flatMap(read), chromium];
}

function isThere({ tool, paths }: HostPackage): boolean {
  return (paths ?? folders.map((folder) => join(folder, tool))).some((path) => existsSync(path));
}

/** True where apt is: the only system on which Kiln installs what is missing, and from whose packages Tiny Linux is made. */
export const isDebian = () => existsSync("/usr/bin/apt-get");

function packageSystem(): "debian" | "suse" | "fedora" {
  if (isDebian()) return "debian";
  return existsSync("/usr/bin/zypper") ? "suse" : "fedora";
}

function installLine(system: ReturnType<typeof packageSystem>, names: readonly string[]): string {
  if (system === "debian") return `sudo apt-get install --no-install-recommends ${names.join(" ")}`;
  return `sudo ${system === "suse" ? "zypper" : "dnf"} install ${names.join(" ")}`;
}

/** What to put before a command that only root may run; undefined: this user may not. */
function rootPrefix(): string[] | undefined {
  if (process.getuid?.() === 0) return ["env"];
  const sudo = ["/usr/bin/sudo", "/bin/sudo"].find((path) => existsSync(path));
  if (sudo === undefined) return undefined;
  // Without a terminal nobody can be asked for a password.
  return process.stdin.isTTY ? [sudo, "env"] : [sudo, "-n", "env"];
}

type AptOptions = { privilege: readonly string[]; onLine: (line: string) => void; signal: AbortSignal | undefined };

async function aptInstall(names: readonly string[], { privilege, onLine, signal }: AptOptions): Promise<void> {
  // Another apt may run on a fresh machine: wait for it for five minutes.
  const apt = ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"];
  const [program = "env", ...before] = privilege;
  const run = (...args: string[]) => command(program, [...before, ...apt, ...args], { onLine, signal });
  await run("update");
  await run("install", "-y", "--no-install-recommends", ...names);
}
