/** Headers that tar would never write. */
export interface Made {
  name?: string | Buffer;
  flag?: string;
  size?: number;
  /** Raw bytes for the size field, instead of the real size. */
  rawSize?: string | Buffer;
  uid?: number;
  /** The positions of a sparse file's bytes, and its size including holes. */
  extents?: [position: number, length: number][];
  realSize?: number;
  target?: string;
}

export function header({
  name = "root/file",
  flag = "0",
  size = 0,
  rawSize,
  uid = 0,
  extents = [],
  realSize,
  target = "",
}: Made): Buffer {
  const block = Buffer.alloc(512);
  put(block, 0, name);
  put(block, 100, octal(0o644, 8));
  put(block, 108, number(uid, 8));
  put(block, 116, octal(0, 8));
  put(block, 124, rawSize ?? number(size, 12));
  put(block, 136, octal(0, 12));
  put(block, 156, flag);
  put(block, 157, target);
  put(block, 257, "ustar  \0");
  for (const [index, [position, length]] of extents.entries()) {
    put(block, 386 + index * 24, octal(position, 12) + octal(length, 12));
  }
  if (realSize !== undefined) put(block, 483, number(realSize, 12));
  put(block, 148, " ".repeat(8));
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(block, 148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

/** A header and its content, padded to whole blocks. */
export function member(made: Made, content = ""): Buffer {
  const bytes = Buffer.from(content);
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512);
  return Buffer.concat([header({ size: bytes.length, ...made }), bytes, padding]);
}

export const theEnd = Buffer.alloc(1024);

const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;

/** Octal digits, or GNU's binary number if they do not fit. */
function number(value: number, length: number): string | Buffer {
  if (value < 8 ** (length - 1)) return octal(value, length);
  const bytes = Buffer.alloc(length);
  bytes.writeBigUInt64BE(BigInt(value), length - 8);
  bytes[0] = 0x80;
  return bytes;
}

const put = (block: Buffer, at: number, value: string | Buffer) =>
  void (typeof value === "string" ? Buffer.from(value, "latin1") : value).copy(block, at);
