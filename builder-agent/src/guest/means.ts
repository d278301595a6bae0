import type { Config } from "../config.ts";
import type { BuildClaim } from "../contract.ts";
import { judgeAccel } from "../doctor/acceleration.ts";
import type { Accel } from "../sandbox.ts";
import { whyItFails } from "../process.ts";
import type { GuestKiwi } from "./guest-kiwi.ts";
import { guestCommand, type GuestMachine } from "./machine.ts";
import { kvmGroups, reserveUser, userOfBuild } from "./user.ts";

/** How guests run on this host. */
export interface GuestMeans {
  accel: Accel;
  /** Why this accelerator was chosen, for the operator. */
  detail: string;
  groups: readonly number[];
  /** Whether bubblewrap works for a user without rights. */
  enclosed: boolean;
  /** Why bubblewrap does not work. */
  openness: string;
}

/** Checked once per process and state directory, because the answer does not change. */
export async function getMeans(config: Pick<Config, "accel" | "stateDir">): Promise<GuestMeans> {
  const known = means.get(config.stateDir) ?? find(config);
  means.set(config.stateDir, known);
  known.catch(() => means.delete(config.stateDir));
  return await known;
}

const means = new Map<string, Promise<GuestMeans>>();

async function find(config: Pick<Config, "accel" | "stateDir">): Promise<GuestMeans> {
  const verdict = await judgeAccel(config);
  const groups = await kvmGroups(verdict.accel);
  const acceleration =
    groups === undefined
      ? {
          accel: "tcg" as const,
          detail: "/dev/kvm exists, but only root may open it, and guests do not run as root",
          groups: [],
        }
      : { ...verdict, groups };
  const openness = await whyNotEnclosed();
  return { ...acceleration, enclosed: openness === "", openness };
}

/** Tries the sandbox of a guest around a program that does nothing. */
async function whyNotEnclosed(): Promise<string> {
  const machine: GuestMachine = { ...smallest, user: userOfBuild(0), groups: [], enclosed: true };
  const [command, args] = guestCommand(machine);
  const sandbox = args.slice(0, args.indexOf("--chdir") + 2);
  return await whyItFails(command, [...sandbox, "--", "true"]).catch((error: Error) => error.message);
}

const smallest = { accel: "tcg", memoryMb: 256, cpus: 1, diskBytes: 1024 * 1024 } as const;

/** The resources of the guest of one build, until this is disposed of. */
export async function guestOfBuild(
  config: Config,
  { buildId, input: { builderNeeds = {} } }: Pick<BuildClaim, "buildId" | "input">,
): Promise<GuestKiwi & AsyncDisposable> {
  const { accel, groups, enclosed } = await getMeans(config);
  const { stateDir } = config;
  const diskGb = Math.max(config.buildDiskGb, builderNeeds.diskGb ?? 0);
  const memoryMb = Math.max(config.buildMemoryMb, builderNeeds.memoryMb ?? 0);
  const limits = { memoryMb, diskBytes: Math.round(diskGb * 1024 ** 3) };
  const user = await reserveUser(buildId);
  const release = () => user[Symbol.asyncDispose]();
  return { stateDir, accel, groups, enclosed, user: user.uid, ...limits, [Symbol.asyncDispose]: release };
}
