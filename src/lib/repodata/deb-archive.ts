import { RepodataFault } from "./fault.ts";
import { concatenate } from "./streams.ts";
import { type Tapped, tapped, type Watch } from "./tap.ts";

/** Limit of the compressed control.tar. Debian's largest has 2 MB, nearly all of it checksums of files. */
const maxControlTarBytes = 8 * 2 ** 20;
const maxVersionBytes = 64;

const magic = "!<arch>\n";
const headerBytes = 60;

/**
 * The members that dpkg reads, in this order. Between and after them, members such as `_gpgorigin` are for other
 * programs.
 */
const parts = [
  { name: "debian-binary", pattern: /^debian-binary$/ },
  { name: "control.tar", pattern: /^control\.tar(\.(gz|xz|zst))?$/ },
  { name: "data.tar", pattern: /^data\.tar(\.[a-z0-9]+)?$/ },
] as const;

/** Whether these bytes begin like a Debian package. */
export const isDeb = (start: Uint8Array): boolean => latin1(start.subarray(0, magic.length)) === magic;

/** Copies the compressed control.tar out of a Debian package while the package streams. Holds none of its files. */
export const tapControlTar = (source: ReadableStream<Uint8Array>): Tapped<Uint8Array> =>
  tapped<Uint8Array>(source, (found) => new DebWatch(found));

/** Follows the members of an `ar` archive. Each has a header, and is padded to an even length. */
class DebWatch implements Watch {
  readonly #found: (controlTar: Uint8Array) => void;
  /** The number of parts that have begun. */
  #begun = 0;
  /** How many bytes are collected now, and the function that gets them. */
  #collecting = { bytes: magic.length, take: (bytes: Uint8Array) => this.#readMagic(bytes) };
  #chunks: Uint8Array[] = [];
  #collectedBytes = 0;
  #skipBytes = 0;

  constructor(found: (controlTar: Uint8Array) => void) {
    this.#found = found;
  }

  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength;) {
      const isSkipped = this.#skipBytes > 0;
      const wanted = isSkipped ? this.#skipBytes : this.#collecting.bytes - this.#collectedBytes;
      const piece = chunk.subarray(at, at + wanted);
      at += piece.byteLength;
      if (isSkipped) this.#skipBytes -= piece.byteLength;
      else this.#collect(piece);
    }
  }

  end(): void {
    if (this.#skipBytes > 0 || this.#collectedBytes > 0) throw malformedDeb("it ends too early");
    const missing = parts[this.#begun];
    if (missing) throw malformedDeb(`it has no ${missing.name}`);
  }

  #collect(piece: Uint8Array): void {
    this.#chunks.push(piece.slice());
    this.#collectedBytes += piece.byteLength;
    if (this.#collectedBytes < this.#collecting.bytes) return;
    const whole = concatenate(this.#chunks);
    const { take } = this.#collecting;
    this.#chunks = [];
    this.#collectedBytes = 0;
    this.#collecting = { bytes: headerBytes, take: (bytes) => this.#readHeader(bytes) };
    take(whole);
  }

  #readMagic(bytes: Uint8Array): void {
    if (!isDeb(bytes)) throw malformedDeb("it does not begin with the magic number of an archive");
  }

  #readHeader(bytes: Uint8Array): void {
    const name = latin1(bytes.subarray(0, 16)).trimEnd().replace(/\/$/, "");
    const [, size] = /^(\d{1,10}) *`\n$/.exec(latin1(bytes.subarray(48))) ?? [];
    if (name === "" || size === undefined) throw malformedDeb("it has a member without a valid header");
    this.#beginMember(name, Number(size));
  }

  #beginMember(name: string, size: number): void {
    const part = this.#partCalled(name);
    const padding = size % 2;
    if (part === undefined || part === "data.tar") {
      this.#skipBytes = size + padding;
      return;
    }
    const maxBytes = part === "control.tar" ? maxControlTarBytes : maxVersionBytes;
    if (size > maxBytes) throw new RepodataFault("too_large", `its ${name} has ${size} bytes, more than ${maxBytes}`);
    if (size === 0) throw malformedDeb(`its ${name} is empty`);
    const take = (bytes: Uint8Array) => {
      this.#skipBytes = padding;
      if (part === "control.tar") this.#found(bytes);
      else if (!/^2\.\d+\n/.test(latin1(bytes))) throw malformedDeb("its format is not 2.0");
    };
    this.#collecting = { bytes: size, take };
  }

  /** Counts the parts, so that each appears once. Undefined if the member is for other programs. */
  #partCalled(name: string): (typeof parts)[number]["name"] | undefined {
    const expected = parts[this.#begun];
    if (expected?.pattern.test(name)) {
      this.#begun++;
      return expected.name;
    }
    if (name.startsWith("_") && this.#begun > 0) return undefined;
    throw malformedDeb(`it has a member ${JSON.stringify(name)} where ${expected?.name ?? "its end"} is expected`);
  }
}

const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

/** A package that dpkg could not install, or that two programs could understand differently. */
export const malformedDeb = (why: string, cause?: unknown) =>
  new RepodataFault("malformed_package", `not a valid Debian package: ${why}`, cause === undefined ? {} : { cause });
