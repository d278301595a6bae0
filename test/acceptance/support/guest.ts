import { setTimeout as sleep } from "node:timers/promises";
import { startMachine, type Machine } from "./machine.ts";

/** A machine with a network card, started from a raw disk that it may write to. */
export interface Guest extends Omit<Machine, "type"> {
  /** Types after a pause, because a serial line that changes hands while characters arrive may lose the rest. */
  type: (text: string) => Promise<void>;
}

export function bootDisk(raw: string, memory = "256M"): Guest {
  const drive = ["-drive", `file=${raw},format=raw,if=virtio`];
  const machine = startMachine(["-m", memory, ...drive, "-nic", "user,model=virtio-net-pci,restrict=on", "-no-reboot"]);
  return {
    ...machine,
    async type(text) {
      await sleep(2000);
      machine.type(text);
    },
  };
}
