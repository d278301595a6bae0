import { createHash } from "node:crypto";
import type { FrozenInput } from "../contract.ts";

/** A digest of an input without its image type, so that types with the same disk (decision 29) have the same seed. */
export function reproducibleSeed(input: FrozenInput): string {
  const facts = { ...input, imageType: "", imageName: "" };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/**
 * Environment variables for KIWI that make two builds of the same input identical (decision 28). rpm, mksquashfs and
 * xorriso take their time from SOURCE_DATE_EPOCH, mkfs.ext4 from its own variable. From KILN_REPRODUCIBLE_SEED the
 * shims derive the UUIDs of file systems and partitions, and shims/python/sitecustomize.py derives KIWI's "random" disk
 * id. Empty for inputs of older Workers.
 *
 * @param shims the directory of the shims as KIWI will see it
 */
export function reproducibleEnvironment(input: FrozenInput, shims: string): Record<string, string> {
  if (input.sourceDate === undefined) return {};
  return {
    SOURCE_DATE_EPOCH: String(input.sourceDate),
    E2FSPROGS_FAKE_TIME: String(input.sourceDate),
    KILN_REPRODUCIBLE_SEED: reproducibleSeed(input),
    PYTHONPATH: `${shims}/python`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
}
