import type { RawData, WebSocket } from "ws";
import { aliveEveryMs, sessionLeaseMs, TestdriveOrder, type TestdriveReport } from "../contract.ts";
import { pauseMs } from "../retry.ts";
import { watch } from "./watchdog.ts";

export interface ControlSettings {
  /** A socket that still connects. */
  dial: () => WebSocket;
  onOrder: (order: TestdriveOrder) => void;
  /** No more control: the Worker knows no such session, or could not be reached for `maxLostMs`. */
  onLost: (reason: string) => void;
  maxLostMs?: number;
  aliveEveryMs?: number;
}

const redialling = { baseDelayMs: 250, maxDelayMs: 4_000 };
const lastWordMs = 2_000;

/**
 * The session's line to its Testdrive object. It outlives its socket: what a new one has to know is told again.
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
  readonly #told = new Map<string, TestdriveReport>();
  readonly #alive: NodeJS.Timeout;
  #socket: WebSocket;
  #redial: NodeJS.Timeout | undefined;
  #failures = 0;
  #lostAt = Date.now();
  #isOver = false;

  constructor(settings: ControlSettings) {
    this.#settings = settings;
    this.#alive = setInterval(() => this.#send({ type: "alive" }), settings.aliveEveryMs ?? aliveEveryMs);
    this.#socket = this.#dial();
  }

  report(report: TestdriveReport): void {
    // "ready" takes the place of "preparing".
    this.#told.set(report.type === "ready" ? "preparing" : report.type, report);
    this.#send(report);
  }

  /** Says the last word, if there is a socket to say it on, and hangs up. */
  async finish(reason: string): Promise<void> {
    this.#end();
    const socket = this.#socket;
    if (socket.readyState === socket.CLOSED) return;
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const timer = setTimeout(() => socket.terminate(), lastWordMs);
    // The polite close delivers what was sent before it.
    const sayIt = () => {
      this.#send({ type: "stopped", reason: reason.slice(0, 500) });
      socket.close(1000);
    };
    if (socket.readyState === socket.CONNECTING) socket.once("open", sayIt);
    else sayIt();
    await closed;
    clearTimeout(timer);
  }

  #dial(): WebSocket {
    let refusal: number | undefined;
    const socket = this.#settings.dial();
    watch(socket);
    socket.on("open", () => this.#open());
    socket.on("message", (data, isBinary) => this.#obey(isBinary ? undefined : parseOrder(data)));
    socket.on("unexpected-response", (request, response) => {
      refusal = response.statusCode;
      request.destroy();
      socket.terminate();
    });
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => this.#lose(refusal));
    return socket;
  }

  #open(): void {
    this.#failures = 0;
    for (const report of this.#told.values()) this.#send(report);
  }

  #obey(order: TestdriveOrder | undefined): void {
    if (order && !this.#isOver) this.#settings.onOrder(order);
  }

  #lose(refusal: number | undefined): void {
    if (this.#isOver) return;
    if (refusal === 404 || refusal === 410) return this.#giveUp("The service has ended this session.");
    if (this.#failures === 0) this.#lostAt = Date.now();
    this.#failures += 1;
    const pause = pauseMs(this.#failures, redialling);
    if (Date.now() + pause - this.#lostAt > (this.#settings.maxLostMs ?? sessionLeaseMs))
      return this.#giveUp("The builder agent lost its connection to the service.");
    this.#redial = setTimeout(() => (this.#socket = this.#dial()), pause);
  }

  #giveUp(reason: string): void {
    this.#end();
    this.#settings.onLost(reason);
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#alive);
    clearTimeout(this.#redial);
  }

  #send(report: TestdriveReport): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(report));
  }
}

function parseOrder(data: RawData): TestdriveOrder | undefined {
  try {
    return TestdriveOrder.parse(JSON.parse(String(data)));
  } catch {
    return undefined; // A newer Worker's word for something that this agent cannot do.
  }
}
