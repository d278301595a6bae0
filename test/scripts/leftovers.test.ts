import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { childMark, endLeftovers, marked } from "../../scripts/launch/leftovers.ts";
import { isAlive } from "../../scripts/launch/process-tree.ts";
import { emptyFolder } from "./folder.ts";

/**
 * A real process with the mark of a state directory. It prints a line when it is running. After that it must not start
 * other programs, because between fork and exec a process has no environment to recognize it by.
 */
async function leftover(state: string, script = "echo up; read"): Promise<ChildProcess & { pid: number }> {
  const child = spawn("bash", ["-c", script], { env: { ...process.env, [childMark]: state }, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return Object.assign(child, { pid: Number(child.pid) });
}

describe("endLeftovers", () => {
  it("ends processes with this state directory's mark, and counts them", async () => {
    const state = emptyFolder();
    const [one, other] = [await leftover(state), await leftover(state)];
    expect(await endLeftovers(state)).toBe(2);
    expect([isAlive(one.pid), isAlive(other.pid)]).toEqual([false, false]);
  });

  it("finds children of such a process, even in another session", async () => {
    const state = emptyFolder();
    await leftover(state, "setsid bash -c 'echo up; read' <&0 & wait");
    expect(await endLeftovers(state)).toBeGreaterThanOrEqual(2);
    expect(marked(state)).toEqual([]);
  });

  it("ignores other state directories, even with the same prefix", async () => {
    const state = emptyFolder();
    const other = await leftover(`${state}-other`);
    expect(await endLeftovers(state)).toBe(0);
    expect(isAlive(other.pid)).toBe(true);
  });

  it("kills a process that ignores SIGTERM", async () => {
    const state = emptyFolder();
    const deaf = await leftover(state, "trap '' TERM; echo up; while :; do sleep 0.1; done");
    await endLeftovers(state);
    expect(isAlive(deaf.pid)).toBe(false);
  });

  it("does not end itself or its parents, whatever their environment", async () => {
    const state = emptyFolder();
    const script = `
      import { endLeftovers } from "${import.meta.dirname}/../../scripts/launch/leftovers.ts";
      console.log("ended", await endLeftovers(${JSON.stringify(state)}));`;
    const child = spawn(
      "bash",
      ["-c", `"$0" --input-type=module -e "$1"; echo "above lives"`, process.execPath, script],
      {
        env: { ...process.env, [childMark]: state },
      },
    );
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    await once(child, "close");
    expect(output).toBe("ended 0\nabove lives\n");
  });
});
