import { spawn } from "node:child_process";
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

export function bootDisk(raw: string, memory = "256M"): Guest {
  const drive = `file=${raw},format=raw,if=virtio`;
  const machine = ["-nodefaults", "-accel", "tcg,tb-size=128", "-cpu", "max,la57=off", "-m", memory];
  const devices = ["-drive", drive, "-nic", "user,model=virtio-net-pci,restrict=on", "-vga", "std", "-display", "none"];
  const qemu = spawn("qemu-system-x86_64", [...machine, ...devices, "-serial", "stdio", "-no-reboot"]);
  const ended = new Promise((resolve) => qemu.once("close", resolve));
  let output = "";
  qemu.stdout.on("data", (chunk) => (output += String(chunk).replaceAll("\r", "")));
  qemu.stderr.on("data", (chunk) => (output += String(chunk)));
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
      qemu.stdin.write(text);
    },
    [Symbol.asyncDispose]: async () => {
      qemu.kill("SIGKILL");
      await ended;
    },
  };
}
