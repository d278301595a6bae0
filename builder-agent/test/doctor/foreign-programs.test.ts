import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkArmPrograms, smallestArmProgram } from "../../src/doctor/foreign-programs.ts";
import { temporaryDir } from "../support/agent-place.ts";

const emulator = "qemu-aarch64-static";

it("tries a program for arm64 that an emulator of it runs", async () => {
  await using dir = await temporaryDir();
  const file = join(dir.path, "program");
  writeFileSync(file, smallestArmProgram(), { mode: 0o755 });
  expect(spawnSync(emulator, [file])).toMatchObject({ status: 0, signal: null });
  writeFileSync(file, smallestArmProgram().fill(0, 120), { mode: 0o755 });
  expect(spawnSync(emulator, [file]).status, "without its code").not.toBe(0);
});

it("finds what the kernel finds", async () => {
  await using dir = await temporaryDir();
  const file = join(dir.path, "program");
  writeFileSync(file, smallestArmProgram(), { mode: 0o755 });
  const runs = spawnSync(file).status === 0;
  expect(await checkArmPrograms(join(dir.path, "state"))).toMatchObject(
    runs ? { state: "ok", disables: [] } : { state: "missing", disables: ["aarch64"] },
  );
});
