import { existsSync } from "node:fs";
import type { FrozenInput } from "../contract.ts";
import { BuildFailure } from "./build-failure.ts";

const deviceMapper = "/dev/mapper/control";

/** Refuses an image with volumes where the kernel has no device mapper, before a minute goes into its packages. */
export function refuseVolumes({ description }: Pick<FrozenInput, "description">, control = deviceMapper): void {
  if (!description["config.xml"]?.includes("<systemdisk ") || existsSync(control)) return;
  const reason = "The disk cannot be divided into volumes (LVM): the builder's kernel has no device mapper.";
  throw new BuildFailure({ kind: "error", reason });
}
