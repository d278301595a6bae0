import { createCipheriv, createHash } from "node:crypto";
import { connect, type NetConnectOpts } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

/** One end of an RFB connection (RFC 6143): bytes in order, over any transport. */
interface Wire {
  read: (bytes: number) => Promise<Buffer>;
  write: (bytes: Buffer) => void;
  close: () => void;
  closed: Promise<void>;
}

interface Frame {
  width: number;
  height: number;
  /** The number of different pixel values on the screen. A blank screen has one. */
  colours: number;
  /** Equal for equal pictures. */
  digest: string;
}

export interface Viewer {
  frame: () => Promise<Frame>;
  /** Presses keys one after the other: those that an American keyboard types without Shift, and `\n` for Return. */
  type: (text: string) => Promise<void>;
  close: () => void;
  closed: Promise<void>;
}

/** Does the handshake as any VNC client does, with `password` if the server requires one. */
export async function openViewer(wire: Wire, password?: string): Promise<Viewer> {
  const version = await wire.read(12);
  if (!version.toString().startsWith("RFB 003.")) throw new Error(`no RFB server: ${version}`);
  wire.write(Buffer.from("RFB 003.008\n"));
  await authenticate(wire, password);
  wire.write(Buffer.from([1]));
  const init = await wire.read(24);
  await wire.read(init.readUInt32BE(20));
  // 32 bits, little-endian, true colour, 8 bits each; raw pixels, with notification when the screen changes its size.
  wire.write(Buffer.from([0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]));
  wire.write(Buffer.from([2, 0, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x21]));
  const size = { width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
  return {
    frame: () => readFrame(wire, size),
    type: (text) => strike(wire, text),
    close: wire.close,
    closed: wire.closed,
  };
}

const returnKey = 0xff0d; // XK_Return
/** A guest under load loses keys that arrive faster. */
const betweenKeysMs = 40;

async function strike(wire: Wire, text: string): Promise<void> {
  for (const character of text) {
    const key = character === "\n" ? returnKey : character.charCodeAt(0);
    for (const isDown of [1, 0]) {
      const event = Buffer.from([4, isDown, 0, 0, 0, 0, 0, 0]);
      event.writeUInt32BE(key, 4);
      wire.write(event);
      await sleep(betweenKeysMs);
    }
  }
}

async function authenticate(wire: Wire, password: string | undefined): Promise<void> {
  const offered = await wire.read((await wire.read(1))[0] ?? 0);
  const wanted = password === undefined ? 1 : 2;
  if (!offered.includes(wanted)) throw new Error(`the server offers security types ${[...offered]}, not ${wanted}`);
  wire.write(Buffer.from([wanted]));
  if (password !== undefined) wire.write(encryptChallenge(await wire.read(16), password));
  const result = (await wire.read(4)).readUInt32BE();
  if (result !== 0) throw new Error("the VNC password was refused");
}

/** DES with the bits of each password byte reversed. Done as triple DES with one key, which OpenSSL still supports. */
function encryptChallenge(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(8);
  Buffer.from(password).copy(key, 0, 0, 8);
  for (let i = 0; i < 8; i++)
    key[i] = Number.parseInt((key[i] ?? 0).toString(2).padStart(8, "0").split("").toReversed().join(""), 2);
  const cipher = createCipheriv("des-ede3", Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}

const desktopSize = -223;

/** Requests the whole screen and reads the update. Requests it again if the screen has a new size. */
async function readFrame(wire: Wire, { width, height }: { width: number; height: number }): Promise<Frame> {
  const request = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  request.writeUInt16BE(width, 6);
  request.writeUInt16BE(height, 8);
  wire.write(request);
  const [type] = await wire.read(1);
  if (type !== 0) throw new Error(`expected a framebuffer update, got message ${type}`);
  const colours = new Set<number>();
  const digest = createHash("sha256");
  let resized: { width: number; height: number } | undefined;
  for (let left = (await wire.read(3)).readUInt16BE(1); left > 0; left--) {
    const header = await wire.read(12);
    const size = { width: header.readUInt16BE(4), height: header.readUInt16BE(6) };
    if (header.readInt32BE(8) === desktopSize) resized = size;
    else {
      const raw = await wire.read(size.width * size.height * 4);
      countColours(raw, colours);
      digest.update(raw);
    }
  }
  if (resized) return readFrame(wire, resized);
  return { width, height, colours: colours.size, digest: digest.digest("hex") };
}

function countColours(raw: Buffer, colours: Set<number>): void {
  for (let at = 0; at < raw.length; at += 4) colours.add(raw.readUInt32LE(at) & 0xffffff);
}

/** RFB over TCP, like any VNC client. */
export const tcpWire = (host: string, port: number): Promise<Wire> => wireTo({ host, port });

/** RFB over TCP, or over QEMU's unix socket. */
export function wireTo(server: NetConnectOpts): Promise<Wire> {
  const socket = connect(server);
  const reader = byteReader();
  socket.on("data", reader.push);
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve(reader.end()));
  });
  const wire = {
    read: reader.read,
    write: (bytes: Buffer) => socket.write(bytes),
    close: () => socket.destroy(),
    closed,
  };
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(wire));
    socket.once("error", reject);
  });
}

/** RFB through the Worker's relay, like the page. */
export function relayWire(url: string): Promise<Wire> {
  const socket = new WebSocket(url, ["binary"]);
  const reader = byteReader();
  socket.on("message", (data: Buffer) => reader.push(data));
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve(reader.end()));
  });
  const wire = { read: reader.read, write: (bytes: Buffer) => socket.send(bytes), close: () => socket.close(), closed };
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(wire));
    socket.once("error", reject);
  });
}

function byteReader() {
  let buffered: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake: (() => void) | undefined;
  const read = async (bytes: number): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for (let missing = bytes; missing > 0;) {
      if (buffered.length === 0) {
        if (ended) throw new Error("the connection is closed");
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const part = buffered.subarray(0, missing);
      chunks.push(part);
      missing -= part.length;
      buffered = buffered.subarray(part.length);
    }
    return Buffer.concat(chunks);
  };
  const push = (data: Buffer) => {
    buffered = buffered.length === 0 ? data : Buffer.concat([buffered, data]);
    wake?.();
  };
  const end = () => {
    ended = true;
    wake?.();
  };
  return { read, push, end };
}
