import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { versionOf } from "./programs.ts";
import { qemuProgram } from "./testdrive/session-sandbox.ts";

/** Identifies this kernel, QEMU and processor. Results that depend on them stay valid while the key is the same. */
export async function hostKey(): Promise<string> {
  const qemu = await versionOf(qemuProgram).catch(() => "none");
  const processor = (await readFile("/proc/cpuinfo", "utf8")).split("\n\n")[0] ?? "";
  const features = processor.split("\n").filter((line) => /^(model name|flags)\b/.test(line));
  return createHash("sha256")
    .update([release(), qemu, ...features].join("\n"))
    .digest("hex");
}

/**
 * Identifies this run of the host's kernel (random(4)). A file that was not flushed to the disk is known to be complete
 * only during this run.
 */
export const bootId = (): Promise<string> => readFile("/proc/sys/kernel/random/boot_id", "utf8");
