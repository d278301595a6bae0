import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "./service.ts";

/** A machine with a network card and a serial line, started from a raw disk that it may write to. */
export interface Guest extends AsyncDisposable {
  /** Waits until the serial line has printed this; returns everything printed since this boot. */
  says: (words: string, seconds: number) => Promise<string>;
  /** Types after a pause: a serial line that changes hands while characters arrive may lose the rest. */
  type: (text: string) => Promise<void>;
  /** Resolves when it has powered itself off. */
  ended: Promise<unknown>;
}

/**
 * Whether an emulated kernel has stopped in its first moment, because a busy host gave the emulator too little time. Nothing has
 * been read from a disk by then, and the same machine, started again, boots.
 */
export const missedItsTimer = (output: string): boolean => output.includes("IO-APIC + timer doesn't work");

export function bootDisk(raw: string, memory = "256M"): Guest {
  const drive = `file=${raw},format=raw,if=virtio`;
  const machine = ["-nodefaults", "-accel", "tcg,tb-size=128", "-cpu", "max,la57=off", "-m", memory];
  const devices = ["-drive", drive, "-nic", "user,model=virtio-net-pci,restrict=on", "-vga", "std", "-display", "none"];
  let output = "";
  let isOver = false;
  const start = (onEnd: () => void): ChildProcess => {
    output = "";
    const started = spawn("qemu-system-x86_64", [...machine, ...devices, "-serial", "stdio", "-no-reboot"]);
    started.stdout.on("data", (chunk) => {
      output += String(chunk).replaceAll("\r", "");
      if (missedItsTimer(output)) started.kill("SIGKILL");
    });
    started.stderr.on("data", (chunk) => (output += String(chunk)));
    started.once("close", () => {
      if (missedItsTimer(output) && !isOver) qemu = start(onEnd);
      else onEnd();
    });
    return started;
  };
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let qemu = start(resolve);
  const says = async (words: string, seconds: number) => {
    await until(`the guest says ${JSON.stringify(words)}`, seconds, () => output.includes(words)).catch((error) => {
      throw new Error(`${error}; it printed:\n${output.slice(-2000)}`);
    });
    return output;
  };
  return {
    says,
    ended,
    type: async (text) => {
      await sleep(2000);
      qemu.stdin?.write(text);
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      qemu.kill("SIGKILL");
      await ended;
    },
  };
}
