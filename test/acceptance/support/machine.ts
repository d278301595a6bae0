import { spawn, type ChildProcess } from "node:child_process";
import { accelArguments } from "../../../builder-agent/src/testdrive/machine.ts";
import { qemuProgram } from "../../../builder-agent/src/testdrive/session-sandbox.ts";
import { maxStarts, timerPanic } from "../../../scripts/verify/timer-panic.ts";
import { until } from "./until.ts";

/** An emulated machine with a screen and a serial line. */
export interface Machine extends AsyncDisposable {
  /**
   * Waits until its serial line has printed this, or the machine has ended. Returns the whole output without carriage
   * returns.
   */
  says: (expected: string | RegExp, seconds: number) => Promise<string>;
  type: (text: string) => void;
  /** Resolves when it has ended. */
  ended: Promise<void>;
}

const missedItsTimer = (output: string): boolean => output.includes(timerPanic);

/**
 * Starts QEMU, and restarts it if a kernel misses its timer. That may be the second kernel of a machine, so the first
 * one's output is kept.
 */
export function startMachine(devices: readonly string[]): Machine {
  const always = ["-nodefaults", "-no-user-config", ...accelArguments("tcg"), "-vga", "std", "-display", "none"];
  const args = [...always, "-chardev", "stdio,id=serial,signal=off", "-serial", "chardev:serial", ...devices];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let before = "";
  let output = "";
  let starts = 0;
  let isOver = false;
  void ended.then(() => (isOver = true));
  const printed = () => before + output;
  const start = (): ChildProcess => {
    starts += 1;
    const started = spawn(qemuProgram, args, { stdio: "pipe" });
    const hear = (chunk: Buffer) => {
      output += chunk.toString("latin1").replaceAll("\r", "");
      if (missedItsTimer(output)) started.kill("SIGKILL");
    };
    started.stdout.on("data", hear);
    started.stderr.on("data", hear);
    started.stdin.on("error", () => {}); // it has ended
    started.once("close", () => {
      if (isOver || starts === maxStarts || !missedItsTimer(output)) return resolve();
      before += output;
      output = "";
      qemu = start();
    });
    return started;
  };
  let qemu = start();
  return {
    async says(expected, seconds) {
      const isThere = () =>
        isOver || (typeof expected === "string" ? printed().includes(expected) : expected.test(printed()));
      await until(`the machine says ${expected}`, seconds, isThere).catch((error) => {
        throw new Error(`${error}; it printed:\n${printed().slice(-2000)}`);
      });
      return printed();
    },
    type: (text) => void qemu.stdin?.write(text),
    ended,
    async [Symbol.asyncDispose]() {
      isOver = true;
      qemu.kill("SIGKILL");
      await ended;
    },
  };
}
