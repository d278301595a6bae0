import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeeds } from "../process.ts";
import { answerLimitMs, fine, missing, type Check } from "./check.ts";
import { scratchDir } from "./doctor-dir.ts";

const name = "32-bit programs";
const nameOfArm = "arm64 programs";

/** A build for i586 runs the image's own programs. Not every 64-bit kernel can run them. */
export async function check32BitPrograms(stateDir: string): Promise<Check> {
  await using dir = await scratchDir(stateDir);
  const file = join(dir.path, "program");
  await writeFile(file, smallestProgram(), { mode: 0o700 });
  if (await succeeds("setarch", ["i686", file], AbortSignal.timeout(answerLimitMs))) return fine(name, "run");
  return missing(name, "this kernel does not run them", ["i586"], fixOf32Bit);
}

const fixOf32Bit =
  "start the kernel with ia32_emulation=on, or let it start them in QEMU: docs/operations/agents.md, 32-bit programs";

/** A build for another processor emulates the image's own programs: the kernel starts them through an interpreter. */
export async function checkArmPrograms(stateDir: string): Promise<Check> {
  await using dir = await scratchDir(stateDir);
  const file = join(dir.path, "program");
  await writeFile(file, smallestArmProgram(), { mode: 0o700 });
  if (await succeeds(file, [], AbortSignal.timeout(answerLimitMs))) return fine(nameOfArm, "run");
  const fix = "apt-get install -y --no-install-recommends qemu-user-static binfmt-support; mount binfmt_misc";
  return missing(nameOfArm, "this kernel has no interpreter for them", ["aarch64"], fix);
}

/** Whether the kernel of guests runs foreign programs. It may differ from this host's. */
export const judge32BitProgramsInGuests = ({ runs32Bit }: { runs32Bit: boolean }): Check =>
  runs32Bit
    ? fine(name, "run in a guest")
    : missing(
        name,
        "the guest's kernel does not run them",
        ["i586"],
        "use an apt source whose linux-image-cloud-amd64 does",
      );

/** An ELF file for the 80386 that exits with 0. */
export function smallestProgram(): Buffer {
  const header =
    "7f454c46 01010100 00000000 00000000 0200 0300 01000000 54800408 34000000 00000000 00000000 3400 2000 0100";
  const rest = "0000 0000 0000";
  const segment = "01000000 00000000 00800408 00800408 5d000000 5d000000 05000000 00100000";
  const code = "b801000000 31db cd80"; // mov eax, 1 (exit); xor ebx, ebx; int 0x80
  return Buffer.from([header, rest, segment, code].join("").replaceAll(" ", ""), "hex");
}

/** An ELF file for 64-bit ARM that exits with 0. */
export function smallestArmProgram(): Buffer {
  const header =
    "7f454c46 02010100 00000000 00000000 0200 b700 01000000 7800400000000000 4000000000000000 0000000000000000";
  const rest = "00000000 4000 3800 0100 0000 0000 0000";
  const place = "01000000 05000000 0000000000000000 0000400000000000 0000400000000000";
  const size = "8400000000000000 8400000000000000 0000010000000000";
  const code = "a80b80d2 000080d2 010000d4"; // mov x8, #93 (exit); mov x0, #0; svc #0
  return Buffer.from([header, rest, place, size, code].join("").replaceAll(" ", ""), "hex");
}
