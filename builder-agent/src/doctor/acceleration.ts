import { access, constants, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../config.ts";
import { hostKey } from "../host-key.ts";
import type { Accel } from "../testdrive/accel.ts";
import { bootProbe, type ProbeResult } from "./probe-boot.ts";
import { doctorDir } from "./scratch-dir.ts";

export interface AccelVerdict {
  accel: Accel;
  /** Why this one, for the operator. */
  detail: string;
}

/** The accelerator that testdrives use here: what the operator says, else KVM if a kernel boots with it. */
export async function chooseAccel(config: Pick<Config, "accel" | "stateDir">): Promise<Accel> {
  return (await judgeAccel(config)).accel;
}

export async function judgeAccel(config: Pick<Config, "accel" | "stateDir">): Promise<AccelVerdict> {
  if (config.accel !== "auto") return { accel: config.accel, detail: "by configuration" };
  const { stateDir } = config;
  const known =
    verdicts.get(stateDir) ?? judgeKvm(stateDir, { device: "/dev/kvm", boot: () => bootProbe("kvm", stateDir) });
  verdicts.set(stateDir, known);
  return await known;
}

/** One question per process and state directory: it cannot change while we run, and sessions start at the same time. */
const verdicts = new Map<string, Promise<AccelVerdict>>();

/** Exported for its test. The verdict of `boot`, which takes 10 s where it is bad, is kept on the disk. */
export async function judgeKvm(
  stateDir: string,
  { device, boot }: { device: string; boot: () => Promise<ProbeResult> },
): Promise<AccelVerdict> {
  const usable = await access(device, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!usable) return { accel: "tcg", detail: `there is no ${device} for us` };
  const key = await hostKey();
  const probe = (await findVerdict(stateDir, key)) ?? (await boot());
  await keepVerdict(stateDir, { key, probe });
  return probe.booted
    ? { accel: "kvm", detail: `a probe kernel boots with KVM in ${probe.ms} ms` }
    : { accel: "tcg", detail: `${device} is there, but no kernel boots with it: ${probe.why}` };
}

const Kept = z.object({
  key: z.string(),
  probe: z.union([
    z.object({ booted: z.literal(true), ms: z.number() }),
    z.object({ booted: z.literal(false), why: z.string() }),
  ]),
});

const keptFile = (stateDir: string) => join(doctorDir(stateDir), "kvm.json");

async function findVerdict(stateDir: string, key: string): Promise<ProbeResult | undefined> {
  try {
    const kept = Kept.parse(JSON.parse(await readFile(keptFile(stateDir), "utf8")));
    return kept.key === key ? kept.probe : undefined;
  } catch {
    return undefined; // Never asked, or written by another version.
  }
}

async function keepVerdict(stateDir: string, kept: z.infer<typeof Kept>): Promise<void> {
  await mkdir(doctorDir(stateDir), { recursive: true, mode: 0o700 });
  const file = keptFile(stateDir);
  await writeFile(`${file}.new`, JSON.stringify(kept));
  await rename(`${file}.new`, file);
}
