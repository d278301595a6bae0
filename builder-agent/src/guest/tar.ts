/**
 * Reads the tar streams that our guests write (GNU tar's format with sparse files), and refuses everything else,
 * because a build may have taken over its guest. https://www.gnu.org/software/tar/manual/html_node/Standard.html
 */

/** Thrown for a stream that our jobs would not write. */
export class HostileTar extends Error {
  static readonly head = "The build's result was refused: ";

  constructor(why: string) {
    super(`${HostileTar.head}${why}`);
    this.name = "HostileTar";
  }
}

export interface TarEntry {
  /** Relative, without empty segments, "." and "..". Undefined if it is not UTF-8. */
  name: string | undefined;
  /** `h` is a hard link to the file `target`. */
  type: "f" | "d" | "l" | "h" | "c" | "b" | "p";
  mode: number;
  uid: number;
  gid: number;
  /** Including holes. */
  size: number;
  /** Set for `l` and `h`. */
  target: string;
}

/** Bytes of a file, and their position in it. Holes are between pieces. */
interface Piece {
  position: number;
  bytes: Buffer;
}

export interface TarMember {
  entry: TarEntry;
  /** Read these before the next member is requested, or not at all. */
  pieces: AsyncIterable<Piece>;
}

const blockBytes = 512;
const longestName = 8192;
const maxExtents = 1_000_000;

const types = new Map<string, TarEntry["type"]>([
  ["0", "f"],
  ["\0", "f"],
  ["S", "f"],
  ["1", "h"],
  ["2", "l"],
  ["3", "c"],
  ["4", "b"],
  ["5", "d"],
  ["6", "p"],
]);

/** The members of a stream, up to its end mark. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const input = new Blocks(source);
  let longName: Buffer | undefined;
  let longTarget: Buffer | undefined;
  for (;;) {
    const header = await input.take(blockBytes);
    if (header.every((byte) => byte === 0)) return;
    checkHeader(header);
    const flag = header.toString("latin1", 156, 157);
    const stored = numberAt(header, 124, 12);
    if (flag === "L") longName = await longText(input, stored);
    else if (flag === "K") longTarget = await longText(input, stored);
    else {
      const type = types.get(flag);
      if (type === undefined) throw new HostileTar(`a member of type ${JSON.stringify(flag)}`);
      const extents = flag === "S" ? await sparseExtents(header, input) : [{ position: 0, length: stored }];
      const size = flag === "S" ? numberAt(header, 483, 12) : stored;
      checkExtents(extents, stored, size);
      if (type !== "f" && stored > 0) throw new HostileTar("there are bytes where none are allowed");
      const name = nameOf(longName ?? shortName(header));
      const target = (longTarget ?? textAt(header, 157, 100)).toString();
      const owner = {
        mode: numberAt(header, 100, 8) & 0o7777,
        uid: numberAt(header, 108, 8),
        gid: numberAt(header, 116, 8),
      };
      [longName, longTarget] = [undefined, undefined];
      const reading = { isOver: false };
      yield { entry: { name, type, ...owner, size, target }, pieces: piecesOf(input, extents, reading) };
      if (!reading.isOver) await input.skip(padded(stored));
    }
  }
}

interface Extent {
  position: number;
  length: number;
}

async function* piecesOf(input: Blocks, extents: Extent[], reading: { isOver: boolean }): AsyncGenerator<Piece> {
  if (reading.isOver) throw new Error("a member of an archive can be read only once");
  reading.isOver = true;
  let stored = 0;
  for (const { position, length } of extents) {
    let done = 0;
    while (done < length) {
      const bytes = await input.some(length - done);
      yield { position: position + done, bytes };
      done += bytes.length;
    }
    stored += length;
  }
  await input.skip(padded(stored) - stored);
}

const padded = (bytes: number) => Math.ceil(bytes / blockBytes) * blockBytes;

/** The places of a sparse file's bytes: four extents in the header, 21 in each block that follows. */
async function sparseExtents(header: Buffer, input: Blocks): Promise<Extent[]> {
  const extents = extentsAt(header, 386, 4);
  for (let goesOn = header[482] !== 0; goesOn;) {
    const block = await input.take(blockBytes);
    extents.push(...extentsAt(block, 0, 21));
    if (extents.length > maxExtents) throw new HostileTar("a file has too many pieces");
    goesOn = block[504] !== 0;
  }
  return extents;
}

function extentsAt(block: Buffer, from: number, count: number): Extent[] {
  const offsets = Array.from({ length: count }, (_, index) => from + index * 24);
  return offsets
    .filter((at) => block[at] !== 0)
    .map((at) => ({ position: numberAt(block, at, 12), length: numberAt(block, at + 12, 12) }));
}

/** Extents must be in order, inside the file, and add up to the stored bytes. */
function checkExtents(extents: Extent[], stored: number, size: number): void {
  let end = 0;
  let total = 0;
  for (const { position, length } of extents) {
    if (position < end || position + length > size) throw new HostileTar("the pieces of a file do not fit together");
    end = position + length;
    total += length;
  }
  if (total !== stored) throw new HostileTar("a file does not have its stated length");
}

async function longText(input: Blocks, length: number): Promise<Buffer> {
  if (length > longestName) throw new HostileTar("a name is not terminated");
  const text = await input.take(padded(length));
  const end = text.indexOf(0);
  return text.subarray(0, end === -1 ? length : Math.min(end, length));
}

function shortName(header: Buffer): Buffer {
  const name = textAt(header, 0, 100);
  // GNU's own magic ends with a space, and has other fields where POSIX has the prefix of a long name.
  const prefix = header.toString("latin1", 257, 263) === "ustar\0" ? textAt(header, 345, 155) : Buffer.alloc(0);
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function nameOf(bytes: Buffer): string | undefined {
  const raw = bytes.toString("latin1").replace(/\/$/, "");
  if (raw.split("/").some((step) => step === "" || step === "." || step === ".."))
    throw new HostileTar(`the name ${JSON.stringify(raw.slice(0, 100))}`);
  try {
    return utf8.decode(bytes).replace(/\/$/, "");
  } catch {
    return undefined;
  }
}

function textAt(block: Buffer, at: number, length: number): Buffer {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

/** Octal digits, or GNU's binary number when the first bit is set. */
function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  const isBinary = field[0] === 0x80;
  const text = field.toString("latin1").replaceAll("\0", " ").trim();
  if (!isBinary && !/^[0-7]*$/.test(text)) throw new HostileTar("a number is invalid");
  const value = isBinary ? BigInt(`0x${field.subarray(1).toString("hex")}`) : BigInt(`0o${text || "0"}`);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new HostileTar("a number is too large");
  return Number(value);
}

/** The checksum is the sum of the header's bytes, with spaces in place of the checksum. */
function checkHeader(header: Buffer): void {
  if (!header.toString("latin1", 257, 262).startsWith("ustar")) throw new HostileTar("it is not a tar stream");
  let sum = 8 * 0x20;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  if (sum !== numberAt(header, 148, 8)) throw new HostileTar("a header has a wrong checksum");
}

/** Reads a stream in pieces of given lengths. */
class Blocks {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns at least one byte, and at most `maxBytes`. */
  async some(maxBytes: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw new HostileTar("it ends too early");
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(await this.some(left));
    return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) left -= (await this.some(left)).length;
  }
}
