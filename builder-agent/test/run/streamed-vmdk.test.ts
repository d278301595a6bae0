import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { outputOf } from "../../src/process.ts";
import { writeStreamedVmdk } from "../../src/run/streamed-vmdk.ts";
import { temporaryDir } from "../support/agent-place.ts";

const mebi = 2 ** 20;
const signal = new AbortController().signal;

/** A disk of four tables: two have contents, one is empty, and the last one ends within a piece. */
function writeDisk(path: string): void {
  const file = openSync(path, "w");
  ftruncateSync(file, 100 * mebi + 1024);
  for (const at of [0, 5 * mebi, 70 * mebi, 100 * mebi]) writeSync(file, randomBytes(1000), 0, 1000, at);
  closeSync(file);
}

it("writes a disk that qemu-img reads and finds equal", async () => {
  await using dir = await temporaryDir();
  const [raw, vmdk] = [join(dir.path, "raw"), join(dir.path, "vmdk")];
  writeDisk(raw);
  await writeStreamedVmdk(raw, vmdk, signal);
  expect(await outputOf("qemu-img", ["check", "-f", "vmdk", vmdk], signal)).toContain("No errors were found");
  const compared = await outputOf("qemu-img", ["compare", "-f", "raw", "-F", "vmdk", raw, vmdk], signal);
  expect(compared).toContain("Images are identical.");
});

it("stops between two tables", async () => {
  await using dir = await temporaryDir();
  const raw = join(dir.path, "raw");
  writeDisk(raw);
  const stopped = writeStreamedVmdk(raw, join(dir.path, "vmdk"), AbortSignal.abort(new Error("cancelled")));
  await expect(stopped).rejects.toThrow("cancelled");
});
