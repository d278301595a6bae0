import { EventEmitter } from "node:events";
import type { Actor } from "./actors.ts";
import { asActor, asPlatform } from "./actors.ts";
import { clock } from "./clock.ts";
import type { Existing } from "./objects.ts";

const travelMs = 5;

/** One end of a WebSocket, as in the Worker. */
export class SocketEnd {
  static readonly OPEN = 1;
  readyState = 1;
  peer: SocketEnd | undefined;
  accepted: { by: Existing; tags: string[] } | undefined;
  pingedAt: Date | null = null;
  /** A message sent now is lost. TCP delivers in order, so nothing that is sent later arrives either. */
  isCut = () => false;
  #hasLost = false;
  onText: (text: string) => void = () => {};
  onClose: (code: number) => void = () => {};
  #attachment: unknown = null;

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }

  send(text: string): void {
    if (this.readyState !== 1) throw new Error("simulated: the socket is closed");
    this.#travel((peer) => peer.#receive(text));
  }

  /** The runtime answers a ping, without the object. */
  ping(onPong: () => void): void {
    this.#travel((peer) => peer.readyState === 1 && peer.#travel(() => onPong()));
  }

  close(code = 1000): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.accepted?.by.sockets.delete(this);
    this.#travel((peer) => peer.lose(code));
  }

  /** The other end is gone. */
  lose(code: number): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    const by = this.accepted?.by;
    if (by) void by.deliver("webSocketClose", [this, code]).catch(() => {});
    by?.sockets.delete(this);
    this.onClose(code);
  }

  #receive(text: string): void {
    if (this.readyState !== 1) return;
    if (!this.accepted) return this.onText(text);
    if (text === "ping") {
      this.pingedAt = new Date();
      return this.send("pong");
    }
    void this.accepted.by.deliver("webSocketMessage", [this, text]).catch(() => {});
  }

  #travel(arrive: (peer: SocketEnd) => void): void {
    const { peer } = this;
    if (!peer) return;
    asPlatform(() =>
      clock.after(travelMs, () => {
        this.#hasLost ||= this.isCut() || peer.isCut();
        if (!this.#hasLost) arrive(peer);
      }),
    );
  }
}

export class SocketPair {
  readonly 0 = new SocketEnd();
  readonly 1 = new SocketEnd();
  constructor() {
    this[0].peer = this[1];
    this[1].peer = this[0];
  }
}

/** The service answers the connection attempt with something other than a socket. */
export class UnexpectedAnswer extends Error {
  readonly statusCode: number;
  constructor(statusCode: number) {
    super(`Unexpected server response: ${statusCode}`);
    this.statusCode = statusCode;
  }
}

/** A socket that an agent opens, like the one of the package `ws`. */
export class DialledSocket extends EventEmitter {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 3;
  readyState = 0;
  #end: SocketEnd | undefined;
  readonly #owner: Actor;

  constructor(owner: Actor, dial: Promise<{ end: SocketEnd; headers: Record<string, string> }>) {
    super();
    this.#owner = owner;
    owner.onDeath(() => this.#end?.close(1006));
    void dial.then(
      ({ end, headers }) => this.#open(end, headers),
      (error: unknown) => {
        const isAnswer = error instanceof UnexpectedAnswer && this.listenerCount("unexpected-response") > 0;
        if (isAnswer) this.#emit("unexpected-response", { destroy: () => {} }, error);
        else this.#emit("error", error);
        this.#over(1006);
      },
    );
  }

  send(text: string): void {
    if (this.readyState === 1) this.#end?.send(text);
  }

  ping(): void {
    this.#end?.ping(() => this.#emit("pong"));
  }

  close(code = 1000): void {
    this.#end?.close(code);
    this.#over(code);
  }

  terminate(): void {
    this.close(1006);
  }

  #open(end: SocketEnd, headers: Record<string, string>): void {
    if (this.readyState === 3) return end.close(1006);
    this.#end = end;
    this.readyState = 1;
    end.onText = (text) => this.#emit("message", Buffer.from(text), false);
    end.onClose = (code) => this.#over(code);
    this.#emit("upgrade", { headers });
    this.#emit("open");
  }

  #over(code: number): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#emit("close", code);
  }

  #emit(event: string, ...given: unknown[]): void {
    if (!this.#owner.isDead) asActor(this.#owner, () => this.emit(event, ...given));
  }
}
