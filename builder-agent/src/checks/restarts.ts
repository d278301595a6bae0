import { killGroup } from "../process.ts";
import type { Qemu } from "../testdrive/qemu.ts";
import { QmpClosed } from "../testdrive/qmp.ts";
import { within, type Guest } from "./guest.ts";
import type { RestartKind } from "./kinds.ts";

/** A machine that must end. Its next boot is a new process with the same disk. */
interface Ending {
  qemu: Pick<Qemu, "execute" | "pid">;
  guest: Guest;
}

interface Restart {
  /** The name of the next boot, for "On the second boot: …". */
  name: string;
  /** Returns whether the machine ends. */
  stop: (ending: Ending) => Promise<boolean>;
}

export const restarts: Readonly<Record<RestartKind, Restart>> = {
  second_boot: { name: "On the second boot", stop: askToRestart },
  power_cut: { name: "After the power cut", stop: cutPower },
};

/** How long a machine may take to shut down, after the keys and after the button. */
const shutdownSeconds = { keys: 60, button: 60 };
/** The message if the machine reacts to neither. */
export const staysOn =
  "The machine did not shut down within 60 seconds of Ctrl+Alt+Delete, nor within 60 seconds of its power button.";

const ctrlAltDelete = ["ctrl", "alt", "delete"].map((data) => ({ type: "qcode", data }));

/**
 * Linux restarts on Ctrl+Alt+Delete, unless a desktop handles the keys: then the power button is pressed. Instead of
 * restarting, QEMU ends, so that the output of two boots is not mixed.
 */
async function askToRestart({ qemu, guest }: Ending): Promise<boolean> {
  const hasEnded = (seconds: number) => within(guest, seconds, () => guest.isOff);
  try {
    await qemu.execute("set-action", { reboot: "shutdown" });
    await qemu.execute("send-key", { keys: ctrlAltDelete });
    if (await hasEnded(shutdownSeconds.keys)) return true;
    await qemu.execute("system_powerdown");
  } catch (error) {
    if (!(error instanceof QmpClosed)) throw error; // otherwise it has just ended
  }
  return await hasEnded(shutdownSeconds.button);
}

/** QEMU loses writes that the guest has not flushed, as a disk does. */
async function cutPower({ qemu, guest }: Ending): Promise<boolean> {
  guest.isCut = true;
  killGroup(qemu.pid);
  return true;
}
