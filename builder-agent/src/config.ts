import { readFile } from "node:fs/promises";
import { freemem } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";

/** Lists all problems of a configuration, each with its key and how to fix it. */
export class ConfigRefused extends Error {
  readonly complaints: string[];
  constructor(complaints: string[]) {
    super(`The configuration is invalid:\n${complaints.map((each) => `  ${each}`).join("\n")}`);
    this.name = "ConfigRefused";
    this.complaints = complaints;
  }
}

/** The environment wins over the file, so you can try another value without editing the file. */
export async function readConfig(file: string | undefined, env: NodeJS.ProcessEnv): Promise<Config> {
  return parseConfig({ ...(file === undefined ? {} : await readJson(file)), ...fromEnvironment(env) });
}

/** Exported for tests; everything else calls `readConfig`. */
export function parseConfig(given: Record<string, unknown>): Config {
  const parsed = Schema.safeParse(given);
  if (!parsed.success) throw new ConfigRefused(parsed.error.issues.map(complaint));
  return parsed.data;
}

const base = (fix: string) => z.url({ protocol: /^https?$/, error: fix }).transform((url) => url.replace(/\/+$/, ""));
const number = (fix: string, { min = 0, max = 1_000_000 } = {}) => z.coerce.number(fix).min(min, fix).max(max, fix);
const count = (fix: string, { min = 0, max = 1_000_000 } = {}) => number(fix, { min, max }).int(fix);
const secret = (fix: string) => z.string(fix).regex(/^\S{8,}$/, fix);
const text = (fix: string) => z.string(fix).min(1, fix);
const hosts = (fix: string) =>
  z
    .preprocess(
      (given) => (typeof given === "string" ? given.split(",").filter((each) => each !== "") : given),
      z.array(z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+)(:\d{1,5})?$/, fix)),
    )
    .default([]);
const port = z.coerce.number().int().min(1).max(65_535);

const vncFix =
  'give {"host": "203.0.113.5", "ports": [5900, 5999]} (environment: "203.0.113.5:5900-5999"), or null for none';

/**
 * Each key has its meaning (`description`, shown in README.md and `--help`), its default, and an error that explains
 * how to fix a wrong value. `defaultText` describes a default that is not a plain value.
 */
const keys = {
  url: base("give the address of the Worker, e.g. https://kiln.example.org").meta({ description: "URL of the Worker" }),
  token: secret("give the agent token that `npm run admin -- agent add NAME` printed").meta({
    description: "printed by `npm run admin -- agent add NAME`",
  }),
  stateDir: text("give a directory on a disk with room for images, e.g. /var/lib/kiln-agent")
    .transform((path) => resolve(path))
    .meta({
      description:
        "work directories and caches, on a disk with room for three images per slot, and not below `/dev`, `/proc`, `/sys` or `/run`",
    }),
  isolation: z
    .enum(
      ["vm", "none"],
      'give "vm" to run each build in its own guest, or "none" to run builds bare on this host as root ' +
        "(only if you trust everyone who can start a build)",
    )
    .default("vm")
    .meta({
      description: "`vm`: each build runs in its own guest. `none`: builds run directly on this host, as root",
    }),
  buildMemoryMb: count("give the memory of a build's guest in MB, at least 512, e.g. 1536", { min: 512 })
    .default(1536)
    .meta({ description: "memory of a build's guest, at least 512" }),
  buildDiskGb: number("give the disk of a build's guest in GB, from 1 to 1000, e.g. 16", { min: 1, max: 1000 })
    .default(16)
    .meta({
      description:
        "the most that a build in a guest may write. Its result, including holes in files, may be three times as large",
    }),
  minFreeGb: number("give the free disk in GB below which no build is taken, e.g. 5", { max: 10_000 }).default(5).meta({
    description:
      "the agent takes no build while less disk is free, and as much again for each running build. 0: no limit",
    defaultText: "5 (`npm start`: 2)",
  }),
  slots: count("give the number of builds at a time, e.g. 1").default(1).meta({
    description: "builds at a time. A build that only uploads does not count: as many more may upload",
  }),
  testdriveSlots: count("give the number of testdrives at a time, e.g. 4")
    .default(4)
    .meta({ description: "testdrives at a time" }),
  memoryMb: count("give the most memory of one testdrive in MB, at least 64, e.g. 1024", { min: 64 })
    .default(() => Math.max(512, Math.floor(freemem() / 1024 / 1024 / 4)))
    .meta({
      description: "the most memory of one testdrive",
      defaultText: "a quarter of the free memory, at least 512",
    }),
  testdriveDiskGb: number("give what one testdrive may write in GB, from 0.1 to 1000, e.g. 8", { min: 0.1, max: 1000 })
    .default(8)
    .meta({ description: "the most that one testdrive may write to its disk. If it writes more, it ends" }),
  keptMinutes: number("give the minutes that the disk of an ended testdrive stays, from 0 to 1440 (a day)", {
    max: 1440,
  })
    .default(10)
    .meta({ description: "how long the disk of an ended testdrive stays for its modified files. 0: not at all" }),
  keptGb: number("give the size of the disks of ended testdrives in GB, e.g. 5")
    .default(5)
    .meta({ description: "space for all disks of ended testdrives" }),
  cacheGb: number("give the size of the image cache in GB, e.g. 10")
    .default(10)
    .meta({ description: "space for cached images and snapshots of booted guests" }),
  preparedGb: number("give the disk for prepared roots in GB, e.g. 5, or 0 for none").default(5).meta({
    description:
      "space for prepared roots of other formats of a version, as much for disks, and as much for base roots of Debian. 0: none",
  }),
  preparedMinutes: count("give the minutes that an unused prepared root stays, e.g. 120")
    .default(120)
    .meta({ description: "how long an unused prepared root stays" }),
  snapshots: z
    .enum(["on", "off"], 'give "on" to store booted guests for the next testdrive, or "off"')
    .default("on")
    .meta({
      description: "`on`: later testdrives of a build continue from its login prompt. `off`: each of them boots",
    }),
  packageCacheGb: number("give the size of the package cache in GB, e.g. 10, or 0 for none")
    .default(10)
    .meta({ description: "space for cached packages. 0: none" }),
  vnc: z
    .preprocess(
      readVnc,
      z
        .object({ host: z.string().min(1), ports: z.tuple([port, port]).readonly() }, vncFix)
        .refine((vnc) => vnc.ports[0] <= vnc.ports[1], vncFix)
        .nullable(),
    )
    .default(null)
    .meta({
      description:
        '`{"host", "ports": [from, to]}`, in the environment `HOST:FROM-TO`: where VNC clients reach testdrives',
      defaultText: "none",
    }),
  accel: z
    .enum(["auto", "kvm", "tcg"], 'give "auto", "kvm" or "tcg"')
    .default("auto")
    .meta({ description: "`auto`, `kvm` or `tcg`" }),
  allowHosts: hosts("give HOST or HOST:PORT, e.g. mirror.lan:8080").meta({
    description:
      "`HOST` or `HOST:PORT` of repositories that may have private addresses; comma-separated in the environment",
    defaultText: "none",
  }),
  catalogueHosts: hosts("give HOST or HOST:PORT, e.g. mirror.lan:80").meta({
    description: "the same, only for repositories of the operator's catalogues",
    defaultText: "none",
  }),
  catalogueProxy: z
    .url({ protocol: /^http$/, error: "give the address of an HTTP proxy, e.g. http://proxy.lan:3142" })
    .optional()
    .meta({ description: "an HTTP proxy for `proxiedHosts`", defaultText: "none" }),
  proxiedHosts: hosts("give HOST:PORT, e.g. deb.debian.org:80").meta({
    description: "hosts whose repositories of catalogues are fetched through `catalogueProxy`, by http only",
    defaultText: "none",
  }),
  root: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'give the name of a builder root, e.g. debian-12, or "host"')
    .default("host")
    .meta({
      description:
        "where builds run whose base system names no builder root: `host` for the tools of this host, or the name of a root",
    }),
  emulation: z
    .enum(["on", "off"], 'give "on" to build for other processors by emulation, which is slow, or "off"')
    .default("off")
    .meta({
      description:
        "`on`: with `isolation: none`, images for arm64 are built by emulation on a host of another processor, which takes about ten times as long",
    }),
  kiwi: text("give KIWI NG's program, e.g. kiwi-ng")
    .default("kiwi-ng")
    .meta({ description: "KIWI NG's program: a name on the PATH, or a path" }),
  queueUrl: base("give the address of the queue up to its id, or omit it to pull through the Worker").optional().meta({
    description: "a Cloudflare queue to pull directly: `…/accounts/ID/queues/ID`",
    defaultText: "through the Worker",
  }),
  queueToken: secret("give the token of the queue, or omit it to use the agent's own")
    .optional()
    .meta({ description: "API token of that queue", defaultText: "`token`" }),
};

const Schema = z.strictObject(keys).transform((config) => ({
  ...config,
  queueUrl: config.queueUrl ?? `${config.url}/client/v4/accounts/local/queues/kiln-jobs`,
  queueToken: config.queueToken ?? config.token,
}));

export type Config = z.output<typeof Schema>;

export interface ConfigKey {
  key: string;
  /** The environment variable that sets the key. */
  environment: string;
  meaning: string;
  default: string;
}

/** The keys as `--help` and README.md list them. */
export const configKeys = (): ConfigKey[] =>
  Object.entries(keys).map(([key, schema]) => {
    const { description = "", defaultText } = schema.meta() ?? {};
    return { key, environment: environmentName(key), meaning: description, default: defaultOf(schema, defaultText) };
  });

function defaultOf(schema: z.ZodType, defaultText: unknown): string {
  if (typeof defaultText === "string") return defaultText;
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return "required";
  return typeof parsed.data === "string" ? `\`${parsed.data}\`` : String(parsed.data);
}

const environmentName = (key: string) => `KILN_AGENT_${key.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`;

function fromEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.keys(keys).map((key) => [key, env[environmentName(key)] ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const json = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read: ${error.message}`;
    throw new ConfigRefused([`--config: ${reason}`]);
  });
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(json));
  } catch {
    throw new ConfigRefused([`--config: ${file} is not a JSON object`]);
  }
}

/** Reads the environment's "HOST:FROM-TO". Anything else is returned as it is, and the schema refuses it. */
function readVnc(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const found = /^(.+):(\d+)-(\d+)$/.exec(given);
  return found === null ? given : { host: found[1], ports: [found[2], found[3]] };
}

function complaint(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys")
    return `${issue.keys.join(", ")}: unknown; remove it (the keys are listed in builder-agent/README.md)`;
  const [key] = issue.path;
  if (key === undefined) return `configuration: ${issue.message}`;
  const name = String(key);
  return `${name} (environment: ${environmentName(name)}): ${name === "vnc" ? vncFix : issue.message}`;
}
