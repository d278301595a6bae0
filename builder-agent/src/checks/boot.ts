import type { Accel } from "../sandbox.ts";
import { takeScreen } from "../snapshot/take-screen.ts";
import { qemusBelow } from "../testdrive/orphans.ts";
import { commandsSocket } from "../testdrive/machine.ts";
import { switchedOff, type Qemu } from "../testdrive/qemu.ts";
import type { CheckedMachine } from "./check-guest.ts";
import { GuestCommands } from "./guest-commands.ts";
import { GuestClock } from "./guest-clock.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";
import { GuestConsole } from "./guest-console.ts";
import type { Guest } from "./guest.ts";

/** How many seconds of an emulated guest count as one. */
const emulatedSlowness = 5;

export interface BootParts {
  /** The directory of the session, in which QEMU runs. */
  dir: SessionDir;
  accel: Accel;
  /** The texts that its checks look for on the console. */
  texts: readonly string[];
  /** Whether commands can run in the machine. */
  hasCommands: boolean;
}

/** One boot of a machine: its console, and its seconds since the start. Make it just before the machine starts. */
export class Boot implements Disposable {
  readonly clock: GuestClock;
  readonly console: GuestConsole;
  readonly #slowness: number;
  readonly #commandsPath: string | undefined;
  #commands: GuestCommands | undefined;
  #loginAt: number | undefined;

  constructor({ dir, accel, texts, hasCommands }: BootParts) {
    this.#slowness = accel === "tcg" ? emulatedSlowness : 1;
    this.clock = new GuestClock(async () => (await qemusBelow(dir.path))[0]);
    this.#commandsPath = hasCommands ? dir.socket(commandsSocket) : undefined;
    this.console = new GuestConsole({ texts, onLogin: () => (this.#loginAt = this.clock.seconds) });
  }

  get loginAt(): number | undefined {
    return this.#loginAt;
  }

  [Symbol.dispose](): void {
    this.clock[Symbol.dispose]();
    this.#commands?.[Symbol.dispose]();
  }

  /**
   * The machine that runs now. Its signal is aborted if QEMU ends unexpectedly: neither the guest nor this agent has
   * ended it.
   */
  guestOf(qemu: Qemu, machine: Pick<CheckedMachine, "signal" | "dir" | "testdriveId" | "readScreen">): Guest {
    const over = new AbortController();
    if (this.#commandsPath !== undefined) this.#commands = new GuestCommands(this.#commandsPath);
    const loginAt = () => this.#loginAt;
    const guest: Guest = {
      qemu,
      console: this.console,
      clock: this.clock,
      commands: this.#commands,
      readScreen: machine.readScreen,
      takeScreen: () => takeScreen(qemu, machine),
      slowness: this.#slowness,
      get loginAt() {
        return loginAt();
      },
      isOff: false,
      isCut: false,
      signal: AbortSignal.any([machine.signal, over.signal]),
    };
    void noteEnd(qemu, guest, over);
    return guest;
  }
}

async function noteEnd(qemu: Qemu, guest: Guest, over: AbortController): Promise<void> {
  const reason = await qemu.ended;
  if (reason === switchedOff) guest.isOff = true;
  else if (!guest.isCut) over.abort(new Error(reason));
}
