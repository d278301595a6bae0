import { createHash } from "node:crypto";
import type { FrozenInput } from "../contract.ts";

/** Of an input, but for the container that its image gets: types that are one disk (decision 29) have one seed. */
export function steadySeed(input: FrozenInput): string {
  const facts = { ...input, imageType: "", imageName: "" };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/**
 * What makes two builds of one input alike, for the environment of KIWI and all that it starts (decision 28): rpm, mksquashfs
 * and xorriso take their time from SOURCE_DATE_EPOCH, mkfs.ext4 from a variable of its own; the shims make the UUIDs of file
 * systems and partitions of KILN_STEADY_SEED, shims/python/sitecustomize.py KIWI's "random" disk id. Nothing for inputs from before.
 *
 * @param shims the directory of the shims as KIWI will see it
 */
export function steadyEnvironment(input: FrozenInput, shims: string): Record<string, string> {
  if (input.sourceDate === undefined) return {};
  return {
    SOURCE_DATE_EPOCH: String(input.sourceDate),
    E2FSPROGS_FAKE_TIME: String(input.sourceDate),
    KILN_STEADY_SEED: steadySeed(input),
    PYTHONPATH: `${shims}/python`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
}
