import type { z } from "zod";
import { Credit, creditProtocol, maxFrameBytes } from "#lib/contract/index";
import { newToken } from "#domain/secrets";
import { closingLike, gone } from "./joined-sockets.ts";

const maxViewers = 5;
// How many bytes a browser may send before the agent has connected. RFB clients wait for the server's greeting.
const maxEarlyBytes = 16 * 1024;

/**
 * Joins each viewer's browser socket to the agent's socket for it, and passes frames on unchanged. Its state is in the sockets'
 * tags and in storage, so that an eviction of the object loses nothing.
 */
export class VncRelay {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** Viewers with an open browser, whether the agent has connected to them or not. */
  get viewers(): string[] {
    return this.#open("browser").map((socket) => viewerOf(this.#ctx, socket));
  }

  /** Viewers to which the agent has not connected yet. */
  get waiting(): string[] {
    return this.viewers.filter((viewer) => this.#peer("agent", viewer) === undefined);
  }

  /** Accepts a browser; undefined if there are too many viewers. */
  admit(request: Request): { viewer: string; response: Response } | undefined {
    if (this.viewers.length >= maxViewers) return undefined;
    const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
    const protocol = [creditProtocol, "binary"].find((known) => offered.includes(known));
    const viewer = `${protocol === creditProtocol ? "credit" : "plain"}-${newToken()}`;
    return { viewer, response: this.#accept("browser", viewer, protocol) };
  }

  /** Joins the agent's socket to its viewer; undefined if the viewer has left or is already joined. */
  join(viewer: string): Response | undefined {
    const browser = this.#peer("browser", viewer);
    if (!browser || this.#peer("agent", viewer)) return undefined;
    const response = this.#accept("agent", viewer);
    const agent = this.#peer("agent", viewer);
    for (const frame of this.#early(viewer)) agent?.send(frame);
    this.#ctx.storage.kv.delete(earlyKey(viewer));
    return response;
  }

  /** Handles a frame. Binary frames are passed on; text is credit, which only browsers send. */
  pass(socket: WebSocket, frame: string | ArrayBuffer): void {
    const side = sideOf(this.#ctx, socket);
    const peer = this.#peer(side === "agent" ? "browser" : "agent", viewerOf(this.#ctx, socket));
    if (typeof frame === "string") {
      const credit = side === "browser" ? creditIn(frame) : undefined;
      if (credit === undefined) return this.#end(socket, 1008, "Text messages may contain only credit.");
      peer?.send(JSON.stringify(credit));
    } else if (frame.byteLength > maxFrameBytes) this.#end(socket, 1009, `At most ${maxFrameBytes} bytes per frame.`);
    else if (peer) peer.send(frame);
    else this.#keep(socket, frame);
  }

  /** Closes the other side after one side has closed, with the same code if that may be sent. */
  part(socket: WebSocket, code: number, reason: string): void {
    const viewer = viewerOf(this.#ctx, socket);
    const peer = this.#peer(sideOf(this.#ctx, socket) === "agent" ? "browser" : "agent", viewer);
    this.#ctx.storage.kv.delete(earlyKey(viewer));
    const shown = closingLike(code, reason);
    peer?.close(shown.code, shown.reason);
  }

  closeAll(code: number, reason: string): void {
    for (const side of ["browser", "agent"] as const) for (const socket of this.#open(side)) socket.close(code, reason);
    for (const [key] of this.#ctx.storage.kv.list({ prefix: earlyKey("") })) this.#ctx.storage.kv.delete(key);
  }

  #accept(side: Side, viewer: string, protocol?: string): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#ctx.acceptWebSocket(ours, [side, viewer]);
    const headers = protocol === undefined ? {} : { "Sec-WebSocket-Protocol": protocol };
    return new Response(null, { status: 101, webSocket: theirs, headers });
  }

  #end(socket: WebSocket, code: number, reason: string): void {
    socket.close(code, reason);
    this.part(socket, code, reason);
  }

  #keep(socket: WebSocket, frame: ArrayBuffer): void {
    if (sideOf(this.#ctx, socket) === "agent") return this.#end(socket, gone.code, gone.reason);
    const viewer = viewerOf(this.#ctx, socket);
    const frames = [...this.#early(viewer), frame];
    const bytes = frames.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > maxEarlyBytes) return this.#end(socket, 1008, "Wait for the server's greeting.");
    this.#ctx.storage.kv.put(earlyKey(viewer), frames);
  }

  #early(viewer: string): ArrayBuffer[] {
    return this.#ctx.storage.kv.get<ArrayBuffer[]>(earlyKey(viewer)) ?? [];
  }

  #open(side: Side): WebSocket[] {
    return this.#ctx.getWebSockets(side).filter(isOpen);
  }

  #peer(side: Side, viewer: string): WebSocket | undefined {
    return this.#ctx.getWebSockets(viewer).find((socket) => isOpen(socket) && sideOf(this.#ctx, socket) === side);
  }
}

type Side = "browser" | "agent";

const earlyKey = (viewer: string) => `early:${viewer}`;
const isOpen = (socket: WebSocket) => socket.readyState === WebSocket.OPEN;
const viewerOf = (ctx: DurableObjectState, socket: WebSocket) => ctx.getTags(socket)[1] ?? "";
const sideOf = (ctx: DurableObjectState, socket: WebSocket) => ctx.getTags(socket)[0];

function creditIn(text: string): z.infer<typeof Credit> | undefined {
  try {
    return Credit.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
