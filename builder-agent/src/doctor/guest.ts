import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../config.ts";
import { makeBlankDisk, packDisk } from "../guest/job-disk.ts";
import { findMeans, type GuestMeans } from "../guest/means.ts";
import { runGuest } from "../guest/run-guest.ts";
import { openGuestSystem, type GuestSystem } from "../guest/system.ts";
import { userOfBuild } from "../guest/user.ts";
import { sentenceOf } from "../log.ts";
import { degraded, fine, missing, type Check } from "./check.ts";
import { doctorDir, scratchDir } from "./scratch-dir.ts";

type GuestConfig = Pick<Config, "accel" | "stateDir">;

/** How the checks learn about this host; their test has its own answers. */
export interface GuestQuestions {
  means: (config: GuestConfig) => Promise<GuestMeans>;
  system: (stateDir: string) => Promise<GuestSystem>;
  /** → what KIWI says of itself in a guest. */
  probe: (system: GuestSystem, means: GuestMeans, stateDir: string) => Promise<string>;
}

const host: GuestQuestions = { means: findMeans, system: openGuestSystem, probe };

/** Whether builds run in guests here: all of the way but the build itself, over the same disks and ports. */
export async function checkGuest(config: GuestConfig, ask: GuestQuestions = host): Promise<Check[]> {
  const means = await ask.means(config);
  return [await checkProbe(config, means, ask), checkSpeed(means), checkSight(means)];
}

async function checkProbe({ stateDir }: GuestConfig, means: GuestMeans, ask: GuestQuestions): Promise<Check> {
  const name = "guest of builds";
  try {
    const system = await ask.system(stateDir);
    const key = `${system.key} ${means.accel} ${means.enclosed}`;
    const said = (await findVerdict(stateDir, key)) ?? (await ask.probe(system, means, stateDir));
    await keepVerdict(stateDir, { key, said });
    return fine(name, said);
  } catch (error) {
    const mend = 'see the packages above; Debian only. Or set isolation to "none" if you trust all who build';
    return missing(name, sentenceOf(error).slice(0, 300), ["builds"], mend);
  }
}

const checkSpeed = ({ accel, detail }: GuestMeans): Check =>
  accel === "kvm"
    ? fine("speed of builds", detail)
    : degraded(
        "speed of builds",
        `${detail}; guests are emulated, which takes some eight times as long`,
        [],
        "use a host with VT-x or AMD-V, whose /dev/kvm a group may open",
      );

const checkSight = ({ enclosed, openness }: GuestMeans): Check =>
  enclosed
    ? fine("enclosure of guests", "bubblewrap: QEMU sees programs and libraries, no network, no other process")
    : degraded(
        "enclosure of guests",
        `${openness}; QEMU still runs as a user without rights, under seccomp`,
        [],
        "apt-get install -y --no-install-recommends bubblewrap; allow unprivileged user namespaces",
      );

const Kept = z.object({ key: z.string(), said: z.string() });
const keptFile = (stateDir: string) => join(doctorDir(stateDir), "guest.json");

async function findVerdict(stateDir: string, key: string): Promise<string | undefined> {
  try {
    const kept = Kept.parse(JSON.parse(await readFile(keptFile(stateDir), "utf8")));
    return kept.key === key ? kept.said : undefined;
  } catch {
    return undefined; // Never asked, or written by another version.
  }
}

async function keepVerdict(stateDir: string, kept: z.infer<typeof Kept>): Promise<void> {
  await mkdir(doctorDir(stateDir), { recursive: true, mode: 0o700 });
  await writeFile(keptFile(stateDir), JSON.stringify(kept));
}

const probeMb = 1024;
const probeLimitMs = 240_000;

async function probe(system: GuestSystem, { accel, groups, enclosed }: GuestMeans, stateDir: string): Promise<string> {
  await using dir = await scratchDir(stateDir);
  const at = (name: string) => join(dir.path, name);
  const signal = AbortSignal.timeout(probeLimitMs);
  await writeFile(at("run"), "#!/bin/sh\nexec kiwi-ng --version\n");
  await chmod(at("run"), 0o755);
  await packDisk([at("run")], at("job"), signal);
  const disks = { job: at("job"), scratch: await makeBlankDisk(at("scratch"), 2 ** 30), result: at("result") };
  await makeBlankDisk(disks.result, 2 ** 20);
  const limits = { memoryMb: probeMb, cpus: 1, diskBytes: 2 ** 30 };
  const machine = { accel, groups, enclosed, user: userOfBuild(0), ...limits };
  const lines: string[] = [];
  const startedAt = performance.now();
  await runGuest({ machine, system, ...disks, workDir: dir.path, signal, onLine: (line) => void lines.push(line) });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line));
  if (version === undefined) throw new Error(`KIWI does not answer in the guest: ${lines.join(" ").slice(0, 200)}`);
  return `${version} answers in a guest (${accel}) in ${seconds} s`;
}
