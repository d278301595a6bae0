import type { Config } from "../config.ts";
import { getSandbox, type SandboxState } from "../testdrive/session-sandbox.ts";
import { judgeAccel } from "./acceleration.ts";
import { degraded, fine, missing, type Check } from "./check.ts";
import { bootProbe } from "./probe-boot.ts";

/** Hardware virtualisation, and whether QEMU boots a kernel at all. */
export async function checkMachine(config: Pick<Config, "accel" | "stateDir">): Promise<Check[]> {
  const { accel, detail } = await judgeAccel(config);
  const acceleration =
    accel === "kvm"
      ? fine("hardware virtualisation", detail)
      : degraded("hardware virtualisation", `${detail}; testdrives are emulated`, [], "use a host with VT-x or AMD-V");
  return [acceleration, await checkBoot(accel, config.stateDir), judgeSandbox(await getSandbox())];
}

export const judgeSandbox = ({ enclosed, openness }: SandboxState): Check =>
  enclosed
    ? fine("sandbox of testdrives", "bubblewrap: QEMU sees its session's files, and has its own network")
    : degraded(
        "sandbox of testdrives",
        `${openness}; QEMU still runs as a user without rights, under seccomp, but sees this host's files and network`,
        [],
        "apt-get install -y --no-install-recommends bubblewrap; run the agent as root, in a container with CAP_SYS_ADMIN",
      );

async function checkBoot(accel: "kvm" | "tcg", stateDir: string): Promise<Check> {
  const name = "virtual machine";
  const probe = await bootProbe(accel, stateDir);
  return probe.booted
    ? fine(name, `a probe kernel boots with ${accel} in ${probe.ms} ms`)
    : missing(name, probe.why, ["testdrives"], 'install QEMU, or set accel to "tcg"');
}
