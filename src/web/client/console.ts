import RFB from "@novnc/novnc";
import { CreditChannel } from "./credit-channel.ts";
import type { Stroke } from "./strokes.ts";
import type { ConsoleState } from "./words.ts";

// A running machine sends its first bytes within milliseconds. After this time the client gives up the connection.
const greetingWithinMs = 10_000;
const firstPauseMs = 500;
const maxPauseMs = 8_000;
const shiftLeft = 0xffe1;

/**
 * The machine's screen. RFB has state on both sides, so each connection starts from the beginning.
 *
 *   connecting ──▶ connected ──▶ lost ──pause or reconnect()──▶ connecting        any ──close()──▶ closed
 *        └─────────────────────────▲
 */
export class Console {
  readonly #screen: HTMLElement;
  readonly #url: URL;
  readonly #onChange: (state: ConsoleState) => void;
  #rfb: RFB | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isZoomed = false;

  constructor(screen: HTMLElement, url: URL, onChange: (state: ConsoleState) => void) {
    this.#screen = screen;
    this.#url = url;
    this.#onChange = onChange;
  }

  /** Connects now, in any state. */
  reconnect(): void {
    this.#hangUp();
    this.#onChange("connecting");
    const rfb = new RFB(this.#screen, new CreditChannel(this.#url), { shared: true });
    this.#fit(rfb);
    rfb.background = "transparent";
    rfb.addEventListener("connect", () => this.#isCurrent(rfb) && this.#greet(rfb));
    rfb.addEventListener("disconnect", () => this.#isCurrent(rfb) && this.#lose());
    this.#rfb = rfb;
  }

  /** The machine runs, so a connection that receives nothing from now on is broken. */
  expectGreeting(): void {
    this.#timer ??= setTimeout(() => this.#rfb?.disconnect(), greetingWithinMs);
  }

  close(): void {
    this.#hangUp();
    this.#onChange("closed");
  }

  sendCtrlAltDel(): void {
    this.#rfb?.sendCtrlAltDel();
    this.#rfb?.focus();
  }

  send({ keysym, shift }: Stroke): void {
    if (shift) this.#rfb?.sendKey(shiftLeft, "ShiftLeft", true);
    this.#rfb?.sendKey(keysym, null);
    if (shift) this.#rfb?.sendKey(shiftLeft, "ShiftLeft", false);
  }

  /**
   * Toggles between the screen's actual size, which is panned by dragging, and a size that fits the window. Returns
   * whether it now has its actual size.
   */
  zoom(): boolean {
    this.#isZoomed = !this.#isZoomed;
    if (this.#rfb) this.#fit(this.#rfb);
    return this.#isZoomed;
  }

  #fit(rfb: RFB): void {
    rfb.scaleViewport = !this.#isZoomed;
    rfb.clipViewport = this.#isZoomed;
    rfb.dragViewport = this.#isZoomed;
  }

  focus(): void {
    this.#rfb?.focus();
  }

  /**
   * Releases the pressed keys, because the screen will not get their key-up events. noVNC does this when the window
   * loses the focus, so this imitates that.
   */
  releaseKeys(): void {
    window.dispatchEvent(new Event("blur"));
  }

  #greet(rfb: RFB): void {
    this.#stopTimer();
    this.#failures = 0;
    const canvas = this.#screen.querySelector("canvas");
    canvas?.setAttribute("role", "application");
    canvas?.setAttribute("aria-label", "Screen of the machine");
    canvas?.setAttribute("aria-describedby", "way-out");
    this.#onChange("connected");
    rfb.focus();
  }

  #lose(): void {
    this.#stopTimer();
    this.#rfb = undefined;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#failures) * (0.75 + Math.random() / 2);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.reconnect(), pauseMs);
    this.#onChange("lost");
  }

  #hangUp(): void {
    this.#stopTimer();
    const rfb = this.#rfb;
    this.#rfb = undefined;
    rfb?.disconnect();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #isCurrent(rfb: RFB): boolean {
    return this.#rfb === rfb;
  }
}
