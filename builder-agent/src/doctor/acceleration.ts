import { constants } from "node:fs";
import { z } from "zod";
import type { Config } from "../config.ts";
import type { Arch } from "../contract.ts";
import { isAccessible } from "../files.ts";
import { hostKey } from "../host-key.ts";
import type { Accel } from "../sandbox.ts";
import { bootProbe, type ProbeResult } from "./probe-boot.ts";
import { verdictStore } from "./doctor-dir.ts";

export interface AccelVerdict {
  accel: Accel;
  /** Why this accelerator was chosen, for the operator. */
  detail: string;
}

/**
 * The accelerator of testdrives on this host: the configured one, otherwise KVM if a kernel boots with it. A machine of
 * another processor is emulated.
 */
export async function chooseAccel(config: Pick<Config, "accel" | "stateDir">, arch: Arch = "x86_64"): Promise<Accel> {
  const isForeign = (arch === "aarch64") !== (process.arch === "arm64");
  return isForeign ? "tcg" : (await judgeAccel(config)).accel;
}

export async function judgeAccel(config: Pick<Config, "accel" | "stateDir">): Promise<AccelVerdict> {
  if (config.accel !== "auto") return { accel: config.accel, detail: "by configuration" };
  const { stateDir } = config;
  const verdict =
    known.get(stateDir) ?? judgeKvm(stateDir, { device: "/dev/kvm", boot: () => bootProbe("kvm", stateDir) });
  known.set(stateDir, verdict);
  return await verdict;
}

/**
 * Checked once per process and state directory, because sessions start at the same time and the answer does not change.
 */
const known = new Map<string, Promise<AccelVerdict>>();

/** Exported for its test. The result of `boot` is stored, because it takes seconds if no kernel boots. */
export async function judgeKvm(
  stateDir: string,
  { device, boot }: { device: string; boot: () => Promise<ProbeResult> },
): Promise<AccelVerdict> {
  if (!(await isAccessible(device, constants.R_OK | constants.W_OK)))
    return { accel: "tcg", detail: `${device} is missing, or the agent may not open it` };
  const key = await hostKey();
  const verdicts = verdictStore(stateDir, "kvm", Probe);
  const probe = (await verdicts.find(key)) ?? (await boot());
  await verdicts.store(key, probe);
  return probe.booted
    ? { accel: "kvm", detail: `a probe kernel boots with KVM in ${probe.ms} ms` }
    : { accel: "tcg", detail: `${device} is there, but no kernel boots with it: ${probe.why}` };
}

const Probe: z.ZodType<ProbeResult> = z.union([
  z.object({ booted: z.literal(true), ms: z.number() }),
  z.object({ booted: z.literal(false), why: z.string() }),
]);
