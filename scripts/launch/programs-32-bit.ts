import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { check32BitPrograms } from "../../builder-agent/src/doctor/foreign-programs.ts";
import { command } from "./command.ts";
import { installHostPackages } from "./host-packages.ts";
import { step, warn } from "./progress.ts";

const binfmt = "/proc/sys/fs/binfmt_misc";

/**
 * Builds for i586 run the image's own programs. If this host's kernel does not run them (ia32_emulation=off), it gets
 * QEMU as their interpreter until the next boot.
 */
export async function enable32BitPrograms(agentState: string, signal: AbortSignal): Promise<void> {
  const areFine = async () => (await check32BitPrograms(agentState)).state === "ok";
  if (process.arch !== "x64" || (await areFine())) return;
  await installHostPackages(["32-bit programs"], signal);
  await step("Let the kernel start 32-bit programs", register).catch(() => {}); // reported below
  if (!(await areFine())) warn("Nothing can be built for i586 on this machine. For details run npm run doctor.");
}

async function register(): Promise<void> {
  const file = join(binfmt, "register");
  await access(file).catch(() => command("mount", ["-t", "binfmt_misc", "binfmt_misc", binfmt]));
  await writeFile(file, interpreterRule);
}

/**
 * A rule for the kernel (its documentation of binfmt_misc): an ELF file of 32 bits for the 80386 starts in QEMU. With
 * flag P the program gets its first argument as it is, from which busybox reads the applet. With flag F the kernel opens
 * QEMU now, so that it also exists in the root of an image.
 */
export const interpreterRule = [
  "",
  "kiln-i386",
  "M",
  "",
  String.raw`\x7fELF\x01${String.raw`\x00`.repeat(13)}\x03\x00`,
  `${String.raw`\xff`.repeat(5)}${String.raw`\x00`.repeat(13)}${String.raw`\xff`.repeat(2)}`,
  "/usr/bin/qemu-i386-static",
  "PF",
].join(":");
