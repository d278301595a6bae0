import type { WebSocket } from "ws";
import { aliveEveryMs, sessionLeaseMs, TestdriveOrder, type TestdriveReport } from "../contract.ts";
import { stayConnected, parseMessage, untilClosed, watch } from "../redial.ts";

export interface ControlSettings {
  /** Returns a socket before it is connected. */
  dial: () => WebSocket;
  onOrder: (order: TestdriveOrder) => void;
  /** Called if the Worker does not know the session, or was unreachable for `maxLostMs`. */
  onLost: (reason: string) => void;
  maxLostMs?: number;
  aliveEveryMs?: number;
}

const lastWordMs = 2_000;
/** Every minute by default, while the service waits ten for "ready". */
const repeatEvery = 6;

/**
 * The session's channel to its Testdrive object. It outlives its sockets: each new socket gets the latest reports
 * again. They are also repeated with every sixth "alive".
 *
 *             open                     close, error
 *  dialling ────────► connected ─────────────────────► dialling, after a pause
 *     │  ▲ pause
 *     ├──┘
 *     └── 404, 410, or nothing for maxLostMs ──► lost            any ── finish ──► finished
 */
export class Control {
  readonly #settings: ControlSettings;
  /** The latest report of each kind. */
  readonly #reports = new Map<string, TestdriveReport>();
  readonly #alive: NodeJS.Timeout;
  /** The number of "alive" messages. */
  #signs = 0;
  readonly #over = new AbortController();
  #socket: WebSocket | undefined;

  constructor(settings: ControlSettings) {
    this.#settings = settings;
    this.#alive = setInterval(() => this.#sendAlive(), settings.aliveEveryMs ?? aliveEveryMs);
    void this.#stayConnected();
  }

  report(report: TestdriveReport): void {
    // "ready" replaces "preparing".
    this.#reports.set(report.type === "ready" ? "preparing" : report.type, report);
    this.#send(report);
  }

  /** Sends the session's owner a message. It is lost if there is no socket. */
  say(message: string): void {
    this.#send({ type: "preparing", message });
  }

  /** Reports the end, if there is a socket, and closes it. */
  async finish(reason: string): Promise<void> {
    this.#end();
    const socket = this.#socket;
    if (!socket || socket.readyState === socket.CLOSED) return;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const timer = setTimeout(() => socket.terminate(), lastWordMs);
    // A clean close delivers what was sent before.
    const reportEnd = () => {
      this.#send({ type: "stopped", reason: reason.slice(0, 500) });
      socket.close(1000);
    };
    if (socket.readyState === socket.CONNECTING) socket.once("open", reportEnd);
    else reportEnd();
    await closed;
    clearTimeout(timer);
  }

  async #stayConnected(): Promise<void> {
    const { onLost, maxLostMs = sessionLeaseMs } = this.#settings;
    const delays = { baseDelayMs: 250, maxDelayMs: 4_000 };
    const end = await stayConnected(() => this.#connect(), { ...delays, maxLostMs, signal: this.#over.signal });
    if (end === "stopped") return;
    this.#end();
    onLost(
      end === "refused"
        ? "The service has ended this session."
        : "The builder agent lost its connection to the service.",
    );
  }

  async #connect() {
    const socket = this.#settings.dial();
    this.#socket = socket;
    watch(socket);
    const onOpen = () => {
      for (const report of this.#reports.values()) this.#send(report);
    };
    const onText = (text: string) => {
      const order = parseMessage(TestdriveOrder, text);
      if (order && !this.#over.signal.aborted) this.#settings.onOrder(order);
    };
    return (await untilClosed(socket, { onOpen, onText })).end;
  }

  /**
   * Now and then, repeats the reports: an object that died while it received one has lost it, and its socket can
   * survive.
   */
  #sendAlive(): void {
    this.#send({ type: "alive" });
    this.#signs++;
    if (this.#signs % repeatEvery !== 0) return;
    for (const report of this.#reports.values()) if (report.type !== "preparing") this.#send(report);
  }

  #end(): void {
    this.#over.abort();
    clearInterval(this.#alive);
  }

  #send(report: TestdriveReport): void {
    const socket = this.#socket;
    if (socket?.readyState === socket?.OPEN) socket?.send(JSON.stringify(report));
  }
}
