import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import type { Ready } from "./service.ts";

/** An answer exactly as it was received. */
export interface WireAnswer {
  /** `HTTP/1.1 200 OK`. */
  statusLine: string;
  status: number;
  /** Keyed by lower-case name. */
  headers: ReadonlyMap<string, string>;
  body: Buffer;
  text: string;
  /** Text of the document's first element with this name. */
  element: (name: string) => string | undefined;
}

const answerMs = 120_000;

/** One connection on which a test chooses every byte. */
export class Wire {
  readonly #socket: Socket;
  #held = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#heard(() => (this.#held = Buffer.concat([this.#held, chunk]))));
    for (const event of ["end", "close", "error"]) socket.on(event, () => this.#heard(() => (this.#isOver = true)));
  }

  static async open(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Wire(socket);
  }

  /** Encodes texts as UTF-8. Resolves when the bytes have been sent. */
  async send(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** The next answer, including interim ones. `to` determines whether a body follows the head. */
  async answer(to: "GET" | "HEAD" = "GET"): Promise<WireAnswer> {
    const head = (await this.#upTo("\r\n\r\n")).toString("latin1");
    const [statusLine = "", ...lines] = head.split("\r\n");
    const headers = new Map(lines.filter(Boolean).map(headerOf));
    const status = Number(statusLine.split(" ")[1]);
    const hasBody = to !== "HEAD" && status >= 200 && status !== 204 && status !== 304;
    const body = hasBody ? await this.#body(headers) : Buffer.alloc(0);
    const text = body.toString();
    return { statusLine, status, headers, body, text, element: (name) => elementOf(text, name) };
  }

  /** Whether the other side has closed the connection, or does so within a moment. */
  async isClosed(withinMs = 20_000): Promise<boolean> {
    await this.#until(() => this.#isOver, withinMs).catch(() => {});
    return this.#isOver;
  }

  /** Bytes that were received without a request. */
  get unexpected(): string {
    return this.#held.toString("latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #heard(change: () => void): void {
    change();
    this.#wake();
  }

  async #body(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    if (headers.get("transfer-encoding") === "chunked") return await this.#chunks();
    const length = headers.get("content-length");
    if (length !== undefined) return await this.#take(Number(length));
    await this.#until(() => this.#isOver);
    return await this.#take(this.#held.length);
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt((await this.#upTo("\r\n")).toString("latin1"), 16);
      chunks.push(await this.#take(size));
      await this.#upTo("\r\n");
      if (size === 0) return Buffer.concat(chunks);
    }
  }

  /** Removes everything up to and including the mark. Returns the part before the mark. */
  async #upTo(mark: string): Promise<Buffer> {
    await this.#until(() => this.#held.includes(mark));
    const found = await this.#take(this.#held.indexOf(mark));
    await this.#take(mark.length);
    return found;
  }

  async #take(bytes: number): Promise<Buffer> {
    await this.#until(() => this.#held.length >= bytes);
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async #until(isThere: () => boolean, withinMs = answerMs): Promise<void> {
    const endsAt = Date.now() + withinMs;
    while (!isThere()) {
      if (this.#isOver) throw new Error(`the connection ended after ${JSON.stringify(this.unexpected)}`);
      if (Date.now() > endsAt) throw new Error(`no answer in time after ${JSON.stringify(this.unexpected)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 50);
      });
    }
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const elementOf = (text: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];

/** CRLF after every line, as HTTP and MIME require. */
export const lines = (...all: string[]) => all.map((line) => `${line}\r\n`).join("");

export interface RequestParts {
  /** Each `Name: value`, including credentials, because their position and spelling depend on the client. */
  headers?: string[];
  body?: string | Uint8Array;
}

/** A request byte by byte: only the given parts, plus Host and the empty line. */
export function request(line: string, { headers = [], body = "" }: RequestParts = {}): Buffer {
  const head = lines(`${line} HTTP/1.1`, "Host: studio.example.net", ...headers, "");
  return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
}

export const length = (body: string | Uint8Array) => `Content-Length: ${Buffer.byteLength(body)}`;

export const base64Credentials = ({ username, api_key: apiKey }: Pick<Ready, "username" | "api_key">) =>
  Buffer.from(`${username}:${apiKey}`).toString("base64");

/** Sends one request on its own connection. */
export async function exchange(url: string, bytes: Buffer, to?: "HEAD"): Promise<WireAnswer> {
  const wire = await Wire.open(url);
  try {
    await wire.send(bytes);
    return await wire.answer(to);
  } finally {
    wire.close();
  }
}
