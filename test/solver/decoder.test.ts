import { describe, expect, it } from "vitest";
import { type Compression, decompressed, DecompressionRefused, ExpansionGuard } from "#lib/solver/decoder";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";

const decoded = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

// `printf 'Tiny Linux\n' | xz`, the same with -9 (a dictionary of 64 MiB), and with bzip2.
const xzText = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAKVGlueSBMaW51eAoAALWSLGQd0cT5AAEjC8Ib/QkftvN9AQAAAAAEWVo=";
const xzLargeDictionary =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQAKVGlueSBMaW51eAoAALWSLGQd0cT5AAEjC8Ib/QkftvN9AQAAAAAEWVo=";
const bzip2Text = "QlpoOTFBWSZTWZHMid0AAAHXgAAQQAAABAQAACECYCAAIgyMQgyYhwneVOZ4u5IpwoSEjmRO6A==";
// One MiB of zeros by `xz --lzma2=dict=1MiB`, and 32 MiB of zeros by bzip2. Both formats can be concatenated.
const xzZeros =
  "/Td6WFoAAATm1rRGAgAhARAAAACocI6G7///ANldAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYrid/i2lH8MasDedElk4ulcU7IE2PdEDKtfDW1G6eXDdoi3llestk3haR1v+0uIEGxCy4g/XACP0E6vJiiUcR89jyThcJ6nI1/sKMuF0ZWYin4qkfIndfcZwAaYTZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1Iq9+SVJQAAAAAAwva6PqJwa2AAAfUBgIBAAHmXf0exxGf7AgAAAAAEWVo=";
const bzip2Zeros = "QlpoOTFBWSZTWaIgopoBAQHAAMAAAAggADCAKRtoAgGiAQDi7kinChIURBRTQA==";

const generous = { maxBytes: 2 ** 32, maxRatio: Number.POSITIVE_INFINITY };
const texts: [Compression, string][] = [
  ["xz", xzText],
  ["bzip2", bzip2Text],
];

describe.each(texts)("%s", (compression, text) => {
  it.each([1, 13, 1000])("decompresses chunks of %i bytes", async (size) => {
    expect(await run(compression, chunked(decoded(text), size))).toBe("Tiny Linux\n");
  });
  it("decompresses concatenated streams", async () => {
    expect(await run(compression, [decoded(text), decoded(text)])).toBe("Tiny Linux\nTiny Linux\n");
  });
  it.each([0, 1, 20, 45])("refuses data that ends after %i bytes", async (length) => {
    expect(await refusal(compression, [decoded(text).subarray(0, length)])).toBe("truncated");
  });
  it("refuses other data", async () => {
    expect(await refusal(compression, [new TextEncoder().encode("<metadata/>".repeat(20))])).toBe("damaged");
  });
  it("refuses data after the end", async () => {
    expect(await refusal(compression, [decoded(text), new TextEncoder().encode("more and more")])).toBe("damaged");
  });
  it("refuses any flipped byte, or returns the original", async () => {
    const whole = decoded(text);
    for (let at = 0; at < whole.length; at++) {
      const flipped = whole.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 0x55;
      const result = await run(compression, [flipped]).catch((error: unknown) => error);
      expect(result === "Tiny Linux\n" || result instanceof DecompressionRefused).toBe(true);
    }
  });
});

describe("a gibibyte of zeros", () => {
  const bombs: [Compression, string, number][] = [
    ["xz", xzZeros, 1024],
    ["bzip2", bzip2Zeros, 32],
  ];

  it.each(bombs)("in %s is refused by its ratio after little output", async (compression, zeros, repeats) => {
    const { reason, outBytes, memoryBytes } = await decompressBomb(compression, {
      zeros,
      repeats,
      maxRatio: 250,
      maxBytes: 2 ** 32,
    });
    expect(reason).toBe("too_large");
    expect(outBytes).toBeLessThan(3 << 20);
    expect(memoryBytes).toBeLessThan(16 << 20);
  });
  it.each(bombs)("in %s is refused by its size", async (compression, zeros, repeats) => {
    const bomb = { zeros, repeats, maxRatio: Number.POSITIVE_INFINITY, maxBytes: 5 << 20 };
    const { reason, outBytes, memoryBytes } = await decompressBomb(compression, bomb);
    expect(reason).toBe("too_large");
    expect(outBytes).toBeLessThanOrEqual(5 << 20);
    expect(memoryBytes).toBeLessThan(16 << 20);
  });
});

describe("decoder memory", () => {
  it("for a large dictionary is refused", async () => {
    expect(await refusal("xz", [decoded(xzLargeDictionary)])).toBe("too_much_memory");
  });
  it("for a large dictionary is available if it is allowed", async () => {
    expect(await run("xz", [decoded(xzLargeDictionary)], 72 << 20)).toBe("Tiny Linux\n");
  });
  it("is freed, so a thousand decoders fit where one does", async () => {
    const solver = await openSolver(solverModule);
    const once = async (compression: Compression, text: string) => {
      for await (const _ of decompressed(solver.decoder(compression, generous), from([decoded(text)])));
    };
    for (const [compression, text] of texts) await once(compression, text);
    const { memoryBytes } = solver;
    for (let count = 0; count < 500; count++) for (const [compression, text] of texts) await once(compression, text);
    expect(solver.memoryBytes).toBe(memoryBytes);
  });
});

describe("ExpansionGuard", () => {
  it("accepts valid data, even if its first mebibyte compressed very well", () => {
    const guard = new ExpansionGuard({ maxBytes: 100 << 20, maxRatio: 10 });
    guard.took(1000);
    guard.gave(1 << 20);
    guard.took(10 << 20);
    expect(() => guard.gave(99 << 20)).not.toThrow();
  });
});

async function run(compression: Compression, chunks: readonly Uint8Array[], memoryBytes?: number): Promise<string> {
  const solver = await openSolver(solverModule);
  const decoder = solver.decoder(compression, { ...generous, ...(memoryBytes && { memoryBytes }) });
  let text = "";
  for await (const piece of decompressed(decoder, from(chunks))) text += new TextDecoder().decode(piece);
  return text;
}

async function refusal(compression: Compression, chunks: readonly Uint8Array[]): Promise<string> {
  const error: unknown = await run(compression, chunks).catch((thrown: unknown) => thrown);
  if (error instanceof DecompressionRefused) return error.reason;
  throw new Error(`not refused: ${String(error)}`);
}

interface Bomb {
  zeros: string;
  repeats: number;
  maxRatio: number;
  maxBytes: number;
}

async function decompressBomb(compression: Compression, { zeros, repeats, ...limits }: Bomb) {
  const solver = await openSolver(solverModule);
  const chunks = Array.from({ length: repeats }, () => decoded(zeros));
  let outBytes = 0;
  let reason = "none";
  try {
    for await (const piece of decompressed(solver.decoder(compression, limits), from(chunks))) outBytes += piece.length;
  } catch (error) {
    if (error instanceof DecompressionRefused) ({ reason } = error);
  }
  return { reason, outBytes, memoryBytes: solver.memoryBytes };
}

async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function chunked(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
