import { readFile } from "node:fs/promises";
import { freemem } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";

/** All that an operator decides about one agent. README.md explains each key. */
export interface Config {
  /** Base of the Worker, without a slash at its end. */
  url: string;
  token: string;
  /** Base of Cloudflare's pull protocol: `…/messages/pull` and `…/messages/ack` are below it. */
  queueUrl: string;
  queueToken: string;
  /** Work directories, image cache, overlays of testdrives. */
  stateDir: string;
  /** "vm": each build runs in a guest of its own. "none": builds run bare on this host, as root. */
  isolation: "vm" | "none";
  /** Memory of a build's guest. */
  buildMemoryMb: number;
  /** What a build's guest may write, and what its result may hold. */
  buildDiskGb: number;
  /** No build is claimed while less is free on the state directory's disk; 0: whatever is free. */
  minFreeGb: number;
  /** Where VNC clients reach testdrives directly; null: through the Worker only. */
  vnc: { host: string; ports: readonly [from: number, to: number] } | null;
  /** Builds at a time. */
  slots: number;
  /** Testdrives at a time. */
  testdriveSlots: number;
  /** Most memory that one testdrive gets. */
  memoryMb: number;
  /** What one testdrive may write to its disk. */
  testdriveDiskGb: number;
  /** How long the disk of a testdrive that is over is kept for its modified files; 0: not at all. */
  keptMinutes: number;
  /** Disk for all of these together. */
  keptGb: number;
  /** Disk for built images that testdrives may start from without a download, and for snapshots of them. */
  cacheGb: number;
  /** Whether testdrives may start from a saved state of the booted guest. */
  snapshots: "on" | "off";
  /** Disk for packages that builds have fetched, for the next builds; 0: none are kept. */
  packageCacheGb: number;
  /** Disk for roots that other formats of a version are made from; 0: none is kept. */
  preparedGb: number;
  /** A root that no build has used for so long goes. */
  preparedMinutes: number;
  /** HOST or HOST:PORT of repositories that are allowed although their address is private. */
  allowHosts: string[];
  accel: "auto" | "kvm" | "tcg";
  /** KIWI NG's program: a name on the PATH, or a path. */
  kiwi: string;
}

/** All complaints about a configuration at once, each naming its key and how to mend it. */
export class ConfigRefused extends Error {
  readonly complaints: string[];
  constructor(complaints: string[]) {
    super(`The configuration cannot be used:\n${complaints.map((each) => `  ${each}`).join("\n")}`);
    this.name = "ConfigRefused";
    this.complaints = complaints;
  }
}

/** The environment wins over the file, so that one key can be tried without editing. */
export async function readConfig(file: string | undefined, env: NodeJS.ProcessEnv): Promise<Config> {
  return parseConfig({ ...(file === undefined ? {} : await readJson(file)), ...fromEnvironment(env) });
}

/** Exported for the launcher's and the doctor's tests; `readConfig` is the door. */
export function parseConfig(given: Record<string, unknown>): Config {
  const parsed = Given.safeParse(given);
  if (!parsed.success) throw new ConfigRefused(parsed.error.issues.map(complaint));
  const { queueUrl, queueToken, ...config } = parsed.data;
  return {
    ...config,
    queueUrl: queueUrl ?? `${config.url}/client/v4/accounts/local/queues/kiln-jobs`,
    queueToken: queueToken ?? config.token,
  };
}

const base = (mend: string) => z.url({ protocol: /^https?$/, error: mend }).transform((url) => url.replace(/\/+$/, ""));
const count = (mend: string) => z.coerce.number(mend).int(mend).min(0, mend).max(1_000_000, mend);
const secret = (mend: string) => z.string(mend).regex(/^\S{8,}$/, mend);
const port = z.coerce.number().int().min(1).max(65_535);

const vncMend =
  'give {"host": "203.0.113.5", "ports": [5900, 5999]} (environment: "203.0.113.5:5900-5999"), or null for none';
const isolationMend =
  'say "vm" to run each build in a guest of its own, or "none" to run builds bare on this host as root ' +
  "(only where you trust everybody who can start a build)";
const buildMemoryMend = "give the memory of a build's guest in MB, at least 512, e.g. 1536";
const preparedGbMend = "give the disk for prepared roots in GB, e.g. 5, or 0 to keep none";
const minFreeMend = "give the free disk in GB below which no build is taken, e.g. 5";
const buildDiskMend = "give the disk of a build's guest in GB, from 1 to 1000, e.g. 16";
const testdriveDiskMend = "give what one testdrive may write in GB, from 0.1 to 1000, e.g. 8";

const Given = z.strictObject({
  url: base("give the address of the Worker, e.g. https://kiln.example.org"),
  token: secret("give the agent token that `npm run admin -- agent add NAME` printed"),
  queueUrl: base("give the address of the queue up to its id, or leave it out to pull through the Worker").optional(),
  queueToken: secret("give the token of the queue, or leave it out to use the agent's own").optional(),
  stateDir: z
    .string("give a directory on a disk with room for images, e.g. /var/lib/kiln-agent")
    .min(1, "give a directory on a disk with room for images, e.g. /var/lib/kiln-agent")
    .transform((path) => resolve(path)),
  isolation: z.enum(["vm", "none"], isolationMend).default("vm"),
  buildMemoryMb: z.coerce.number(buildMemoryMend).int(buildMemoryMend).min(512, buildMemoryMend).default(1536),
  buildDiskGb: z.coerce.number(buildDiskMend).min(1, buildDiskMend).max(1000, buildDiskMend).default(16),
  minFreeGb: z.coerce.number(minFreeMend).min(0, minFreeMend).max(10_000, minFreeMend).default(5),
  vnc: z
    .preprocess(
      readVnc,
      z
        .object({ host: z.string().min(1), ports: z.tuple([port, port]) }, vncMend)
        .refine((vnc) => vnc.ports[0] <= vnc.ports[1], vncMend)
        .nullable(),
    )
    .default(null),
  slots: count("give the number of builds at a time, e.g. 1").default(1),
  testdriveSlots: count("give the number of testdrives at a time, e.g. 4").default(4),
  memoryMb: z.coerce
    .number("give the most memory of one testdrive in MB, e.g. 1024")
    .int("give the most memory of one testdrive in MB, e.g. 1024")
    .min(64, "a testdrive needs at least 64 MB")
    .default(() => Math.max(512, Math.floor(freemem() / 1024 / 1024 / 4))),
  testdriveDiskGb: z.coerce
    .number(testdriveDiskMend)
    .min(0.1, testdriveDiskMend)
    .max(1000, testdriveDiskMend)
    .default(8),
  keptMinutes: z.coerce
    .number("give the minutes for which the disk of an ended testdrive is kept, e.g. 10")
    .min(0, "cannot be negative")
    .max(1440, "give at most a day: 1440")
    .default(10),
  keptGb: z.coerce
    .number("give the size of the disks of ended testdrives in GB, e.g. 5")
    .min(0, "cannot be negative")
    .default(5),
  cacheGb: z.coerce.number("give the size of the image cache in GB, e.g. 10").min(0, "cannot be negative").default(10),
  preparedGb: z.coerce.number(preparedGbMend).min(0, preparedGbMend).default(5),
  preparedMinutes: count("give the minutes that an unused prepared root is kept, e.g. 120").default(120),
  packageCacheGb: z.coerce
    .number("give the size of the package cache in GB, e.g. 10")
    .min(0, "cannot be negative")
    .default(10),
  allowHosts: z
    .preprocess(
      (given) => (typeof given === "string" ? given.split(",").filter((each) => each !== "") : given),
      z.array(
        z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+)(:\d{1,5})?$/, "give HOST or HOST:PORT, e.g. mirror.lan:8080"),
      ),
    )
    .default([]),
  snapshots: z.enum(["on", "off"], 'give "on" to keep booted guests for the next testdrive, or "off"').default("on"),
  accel: z.enum(["auto", "kvm", "tcg"], 'give "auto", "kvm" or "tcg"').default("auto"),
  kiwi: z
    .string("give KIWI NG's program, e.g. kiwi-ng")
    .min(1, "give KIWI NG's program, e.g. kiwi-ng")
    .default("kiwi-ng"),
});

const environmentNames: Record<string, keyof Config> = {
  KILN_AGENT_URL: "url",
  KILN_AGENT_TOKEN: "token",
  KILN_AGENT_QUEUE_URL: "queueUrl",
  KILN_AGENT_QUEUE_TOKEN: "queueToken",
  KILN_AGENT_STATE_DIR: "stateDir",
  KILN_AGENT_ISOLATION: "isolation",
  KILN_AGENT_BUILD_MEMORY_MB: "buildMemoryMb",
  KILN_AGENT_BUILD_DISK_GB: "buildDiskGb",
  KILN_AGENT_MIN_FREE_GB: "minFreeGb",
  KILN_AGENT_VNC: "vnc",
  KILN_AGENT_SLOTS: "slots",
  KILN_AGENT_TESTDRIVE_SLOTS: "testdriveSlots",
  KILN_AGENT_MEMORY_MB: "memoryMb",
  KILN_AGENT_TESTDRIVE_DISK_GB: "testdriveDiskGb",
  KILN_AGENT_KEPT_MINUTES: "keptMinutes",
  KILN_AGENT_KEPT_GB: "keptGb",
  KILN_AGENT_CACHE_GB: "cacheGb",
  KILN_AGENT_SNAPSHOTS: "snapshots",
  KILN_AGENT_PACKAGE_CACHE_GB: "packageCacheGb",
  KILN_AGENT_PREPARED_GB: "preparedGb",
  KILN_AGENT_PREPARED_MINUTES: "preparedMinutes",
  KILN_AGENT_ALLOW_HOSTS: "allowHosts",
  KILN_AGENT_ACCEL: "accel",
  KILN_AGENT_KIWI: "kiwi",
};

function fromEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(environmentNames).map(([name, key]) => [key, env[name]] as const);
  return Object.fromEntries(
    named.filter((entry): entry is [keyof Config, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read: ${error.message}`;
    throw new ConfigRefused([`--config: ${reason}`]);
  });
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new ConfigRefused([`--config: ${file} is not a JSON object`]);
  }
}

/** The environment's "HOST:FROM-TO"; what is not that goes on to be refused with the sentence about it. */
function readVnc(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const found = /^(.+):(\d+)-(\d+)$/.exec(given);
  return found === null ? given : { host: found[1], ports: [found[2], found[3]] };
}

function complaint(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `${issue.keys.join(", ")}: unknown; remove it (the keys are listed in builder-agent/README.md)`;
  const [key = "configuration"] = issue.path;
  const environment = Object.entries(environmentNames).find(([, name]) => name === key)?.[0];
  const also = environment === undefined ? "" : ` (environment: ${environment})`;
  return `${String(key)}${also}: ${key === "vnc" ? vncMend : issue.message}`;
}
