import { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type { ConnectTo } from "./tcp.ts";

/** What is read at once, at most; the runtime gives 4 KiB to whoever does not ask for more. */
const chunkBytes = 64 * 1024;

/**
 * A connection of the runtime in the shape of Node's sockets, as far as basic-ftp uses one. It goes to the host that it was
 * made for, whatever host it is asked to connect to: what a server says in its answer to PASV is not followed.
 */
export class FtpSocket extends Duplex {
  bytesRead = 0;
  bytesWritten = 0;
  /** basic-ftp looks whether it is there, and connects to it for data: which comes here again. */
  remoteAddress: string | undefined;
  readonly #connectTo: ConnectTo;
  #socket: Socket | undefined;
  /** Node asks for data before there is a connection. */
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
    socket.closed.catch(() => {}); // told to whoever reads or writes
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
    this.#socket?.close().catch(() => {}); // it is gone already
  }

  setKeepAlive(): this {
    return this;
  }

  /** How long a download may take and stand still is the reader's affair. */
  setTimeout(): this {
    return this;
  }
}
