import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { standIn } from "../../builder-agent/test/support/stand-in.ts";
import { startMachine } from "../acceptance/support/machine.ts";

const panic = 'echo "Kernel panic - not syncing: IO-APIC + timer doesn\'t work!"; exec sleep 1000';

/** Machines with this script as their QEMU. The script knows how often it was started. */
async function machineThat(script: string) {
  const dir = await temporaryDir();
  onTestFinished(() => dir[Symbol.asyncDispose]());
  const counting = `echo >> ${dir.path}/starts; start=$(wc -l < ${dir.path}/starts); echo "start $start"`;
  await standIn(dir.path, "qemu-system-x86_64", `${counting}\n${script}`);
  return startMachine([]);
}

describe("a test's machine whose kernel misses its timer", () => {
  it("is started again, and what it printed before stays", async () => {
    await using machine = await machineThat(
      `case $start in 1) echo INSTALL-DONE; ${panic};; esac; echo login:; exec sleep 1000`,
    );
    expect(await machine.says("login:", 60)).toMatch(/^start 1\nINSTALL-DONE\nKernel panic.*\nstart 2\nlogin:\n$/);
  });

  it("is started five times at most", async () => {
    await using machine = await machineThat(panic);
    await machine.ended;
    expect((await machine.says("login:", 60)).match(/start \d/g)).toEqual(
      [1, 2, 3, 4, 5].map((count) => `start ${count}`),
    );
  });

  it("is not started again when its test is over", async () => {
    const machine = await machineThat("echo login:; exec sleep 1000");
    await machine.says("login:", 60);
    await machine[Symbol.asyncDispose]();
    expect(await machine.says("start", 60)).toBe("start 1\nlogin:\n");
  });
});
