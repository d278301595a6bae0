import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { childMark, endLeftovers, marked } from "../../scripts/launch/leftovers.ts";
import { isAlive } from "../../scripts/launch/process-tree.ts";
import { emptyFolder } from "./folder.ts";

/**
 * A real process with the mark of a state directory; it says when it is up. It then starts no program: one that becomes another
 * has for a moment no environment to be known by.
 */
async function leftover(state: string, script = "echo up; read"): Promise<ChildProcess & { pid: number }> {
  const child = spawn("bash", ["-c", script], { env: { ...process.env, [childMark]: state }, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return Object.assign(child, { pid: Number(child.pid) });
}

describe("endLeftovers", () => {
  it("ends the processes that carry the mark of this state directory, and says how many", async () => {
    const state = emptyFolder();
    const [one, other] = [await leftover(state), await leftover(state)];
    expect(await endLeftovers(state)).toBe(2);
    expect([isAlive(one.pid), isAlive(other.pid)]).toEqual([false, false]);
  });

  it("finds what such a process started, also when that changed its session", async () => {
    const state = emptyFolder();
    await leftover(state, "setsid bash -c 'echo up; read' <&0 & wait");
    expect(await endLeftovers(state)).toBeGreaterThanOrEqual(2);
    expect(marked(state)).toEqual([]);
  });

  it("leaves the processes of another state directory alone, even of one whose name goes on", async () => {
    const state = emptyFolder();
    const other = await leftover(`${state}-other`);
    expect(await endLeftovers(state)).toBe(0);
    expect(isAlive(other.pid)).toBe(true);
  });

  it("kills one that does not listen to SIGTERM", async () => {
    const state = emptyFolder();
    const deaf = await leftover(state, "trap '' TERM; echo up; while :; do sleep 0.1; done");
    await endLeftovers(state);
    expect(isAlive(deaf.pid)).toBe(false);
  });

  it("does not end itself or those above it, whatever their environment says", async () => {
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
