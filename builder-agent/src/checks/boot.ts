import type { Accel } from "../sandbox.ts";
import { qemusBelow } from "../testdrive/orphans.ts";
import { switchedOff, type Qemu } from "../testdrive/qemu.ts";
import { GuestClock } from "./guest-clock.ts";
import { GuestConsole } from "./guest-console.ts";
import type { Guest } from "./kinds.ts";

/** How many seconds of an emulated guest count as one. */
const emulatedSlowness = 5;

export interface BootParts {
  /** The directory of the session, in which QEMU runs. */
  path: string;
  accel: Accel;
  /** The texts that its checks look for on the console. */
  texts: readonly string[];
}

/** One boot of a machine: its console, and its seconds since the start. Make it just before the machine starts. */
export class Boot implements Disposable {
  readonly clock: GuestClock;
  readonly console: GuestConsole;
  readonly #slowness: number;
  #loginAt: number | undefined;

  constructor({ path, accel, texts }: BootParts) {
    this.#slowness = accel === "tcg" ? emulatedSlowness : 1;
    this.clock = new GuestClock(async () => (await qemusBelow(path))[0]);
    this.console = new GuestConsole({ texts, onLogin: () => (this.#loginAt = this.clock.seconds) });
  }

  get loginAt(): number | undefined {
    return this.#loginAt;
  }

  [Symbol.dispose](): void {
    this.clock[Symbol.dispose]();
    this.console[Symbol.dispose]();
  }

  /**
   * The machine that runs now. Its signal is aborted if QEMU ends unexpectedly: neither the guest nor this agent has
   * ended it.
   */
  guestOf(qemu: Qemu, signal: AbortSignal): Guest {
    const over = new AbortController();
    const loginAt = () => this.#loginAt;
    const guest: Guest = {
      qemu,
      console: this.console,
      clock: this.clock,
      slowness: this.#slowness,
      get loginAt() {
        return loginAt();
      },
      isOff: false,
      isCut: false,
      signal: AbortSignal.any([signal, over.signal]),
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
