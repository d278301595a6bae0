import { createHash } from "node:crypto";
import { hostKey } from "../host-key.ts";
import { machineArguments, type Machine } from "../testdrive/machine.ts";

/**
 * Names the snapshots that such a machine can start from: those of the same image in a machine of the same arguments, saved
 * by the same QEMU on the same kernel and processor. A path of the image is among the arguments.
 */
export async function snapshotKey(machine: Machine): Promise<string> {
  const words = [await hostKey(), ...machineArguments(machine)];
  return createHash("sha256").update(words.join("\n")).digest("hex").slice(0, 32);
}
