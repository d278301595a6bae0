import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { versionOf } from "./program-version.ts";
import { qemuProgram } from "./testdrive/walls.ts";

/** Names this kernel, QEMU and processor: as long as it is the same, so is what was found out with them. */
export async function hostKey(): Promise<string> {
  const qemu = await versionOf(qemuProgram).catch(() => "none");
  const processor = (await readFile("/proc/cpuinfo", "utf8")).split("\n\n")[0] ?? "";
  const features = processor.split("\n").filter((line) => /^(model name|flags)\b/.test(line));
  return createHash("sha256")
    .update([release(), qemu, ...features].join("\n"))
    .digest("hex");
}
