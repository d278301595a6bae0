import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../config.ts";
import { makeBlankDisk, packDisk } from "../guest/job-disk.ts";
import { getMeans, type GuestMeans } from "../guest/means.ts";
import { runGuest } from "../guest/run-guest.ts";
import { openGuestSystem, type GuestSystem } from "../guest/system.ts";
import { userOfBuild } from "../guest/user.ts";
import { sentenceOf } from "../log.ts";
import { ownCommand } from "../own-command.ts";
import type { StoredRoot } from "../roots/store.ts";
import { degraded, fine, missing, type Check } from "./check.ts";
import { judge32BitProgramsInGuests, smallestProgram } from "./foreign-programs.ts";
import { scratchDir, verdictStore } from "./doctor-dir.ts";
import { judgeVolumesInGuests } from "./volumes.ts";

/** `root` is the builder root that the guest is made from. Without it, the guest is made from this host's packages. */
type GuestConfig = Pick<Config, "accel" | "stateDir"> & { root?: StoredRoot | undefined };

/** How the checks examine this host. Tests replace it. */
export interface GuestQuestions {
  means: (config: GuestConfig) => Promise<GuestMeans>;
  system: (stateDir: string, root?: StoredRoot) => Promise<GuestSystem>;
  probe: (system: GuestSystem, means: GuestMeans, stateDir: string) => Promise<Verdict>;
}

/** The findings in a guest that booted. */
const Verdict = z.object({
  /** KIWI's version in the guest, and how long the guest took. */
  said: z.string(),
  runs32Bit: z.boolean(),
  hasLvm2: z.boolean(),
  /** Whether its kernel's device mapper answers. */
  hasMapper: z.boolean(),
});
type Verdict = z.infer<typeof Verdict>;

const host: GuestQuestions = { means: getMeans, system: openGuestSystem, probe };

/** Whether builds can run in guests on this host. The probe uses the same code, disks and ports as a build. */
export async function checkGuest(config: GuestConfig, ask: GuestQuestions = host): Promise<Check[]> {
  const means = await ask.means(config);
  return [...(await checkProbe(config, means, ask)), checkSpeed(means), checkSight(means)];
}

async function checkProbe({ stateDir, root }: GuestConfig, means: GuestMeans, ask: GuestQuestions): Promise<Check[]> {
  const name = root ? `guest of ${root.facts.name}` : "guest of builds";
  try {
    const system = await ask.system(stateDir, root);
    const key = `${system.key} ${means.accel} ${means.enclosed}`;
    const verdicts = verdictStore(stateDir, root ? `guest-${root.facts.name}` : "guest", Verdict);
    const verdict = (await verdicts.find(key)) ?? (await ask.probe(system, means, stateDir));
    await verdicts.store(key, verdict);
    return [fine(name, verdict.said), judge32BitProgramsInGuests(verdict), judgeVolumesInGuests(verdict)];
  } catch (error) {
    const fix = root ? ownCommand("root", `make ${root.facts.name}`) : hostFix;
    return [missing(name, sentenceOf(error).slice(0, 300), ["builds"], fix)];
  }
}

const hostFix =
  'see the packages above; Debian only, elsewhere make a builder root. Or set isolation to "none" if you trust everyone who can start a build';

const checkSpeed = ({ accel, detail }: GuestMeans): Check =>
  accel === "kvm"
    ? fine("speed of builds", detail)
    : degraded(
        "speed of builds",
        `${detail}; guests are emulated, which takes about eight times as long`,
        [],
        "use a host with VT-x or AMD-V, whose /dev/kvm a group may open",
      );

const checkSight = ({ enclosed, openness }: GuestMeans): Check =>
  enclosed
    ? fine("sandbox of guests", "bubblewrap: QEMU sees programs and libraries, no network, no other process")
    : degraded(
        "sandbox of guests",
        `${openness}; QEMU still runs as a user without rights, under seccomp`,
        [],
        "apt-get install -y --no-install-recommends bubblewrap; allow unprivileged user namespaces",
      );

const probeMb = 1024;
const probeLimitMs = 240_000;
const saying = { runs32Bit: "32-bit programs run", hasLvm2: "lvm2 is there", hasMapper: "the device mapper answers" };

const probeScript = `#!/bin/sh
kiwi-ng --version
setarch i686 /job/program && echo "${saying.runs32Bit}"
command -v lvm > /dev/null && echo "${saying.hasLvm2}"
dmsetup version | grep -q "Driver version" && echo "${saying.hasMapper}"
`;

async function probe(system: GuestSystem, { accel, groups, enclosed }: GuestMeans, stateDir: string): Promise<Verdict> {
  await using dir = await scratchDir(stateDir);
  const at = (name: string) => join(dir.path, name);
  const signal = AbortSignal.timeout(probeLimitMs);
  await writeFile(at("run"), probeScript, { mode: 0o755 });
  await writeFile(at("program"), smallestProgram(), { mode: 0o755 });
  await packDisk([at("run"), at("program")], at("job"), signal);
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
  return {
    said: `${version} answers in a guest (${accel}) in ${seconds} s`,
    runs32Bit: lines.includes(saying.runs32Bit),
    hasLvm2: lines.includes(saying.hasLvm2),
    hasMapper: lines.includes(saying.hasMapper),
  };
}
