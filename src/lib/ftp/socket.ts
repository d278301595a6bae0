import { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type { ConnectTo } from "./tcp.ts";

/** Bytes per read. The runtime's default is 4 KiB. */
const chunkBytes = 64 * 1024;

/**
 * A connection of the runtime with the part of Node's socket interface that basic-ftp uses. It always connects to the
 * host that it was created for, so it ignores the address in a server's answer to PASV.
 */
export class FtpSocket extends Duplex {
  bytesRead = 0;
  bytesWritten = 0;
  /** basic-ftp requires it, and connects to it for data, through this class again. */
  remoteAddress: string | undefined;
  readonly #connectTo: ConnectTo;
  #socket: Socket | undefined;
  /** A promise, because Node reads before there is a connection. */
  readonly #reader = Promise.withResolvers<ReadableStreamBYOBReader>();
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;

  constructor(connectTo: ConnectTo) {
    super({ allowHalfOpen: true });
    this.#connectTo = connectTo;
  }

  connect({ host, port }: { host: string; port: number }, onConnect: () => void): this {
    this.once("connect", onConnect);
    this.#open(host, port).catch((error: Error) => this.destroy(error));
    return this;
  }

  async #open(host: string, port: number): Promise<void> {
    const socket = this.#connectTo(port);
    this.#socket = socket;
    socket.closed.catch(() => {}); // readers and writers get the error
    await socket.opened;
    this.#writer = socket.writable.getWriter();
    this.remoteAddress = host;
    this.emit("connect");
    this.#reader.resolve(socket.readable.getReader({ mode: "byob" }));
  }

  override _read(): void {
    this.#receive().catch((error: Error) => this.destroy(error));
  }

  async #receive(): Promise<void> {
    const reader = await this.#reader.promise;
    const { done, value } = await reader.read(new Uint8Array(chunkBytes));
    if (value) this.bytesRead += value.byteLength;
    this.push(done ? null : value);
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    callbackify(() => this.#send(chunk))(done);
  }

  async #send(chunk: Uint8Array): Promise<void> {
    if (!this.#writer) throw new Error("the connection is not open");
    this.bytesWritten += chunk.byteLength;
    await this.#writer.write(chunk);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#close();
    done(error);
  }

  #close(): void {
    this.#socket?.close().catch(() => {}); // fails if it is already closed
  }

  setKeepAlive(): this {
    return this;
  }

  /** Does nothing: the reader has its own timeouts. */
  setTimeout(): this {
    return this;
  }
}
