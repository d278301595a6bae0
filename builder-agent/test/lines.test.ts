import * as fc from "../../test/support/properties.ts";
import { describe, expect, it } from "vitest";
import { longestLine, openLines } from "../src/lines.ts";

/** The lines of these bytes, read in pieces of this size. */
async function linesOf(bytes: Buffer, piece = 64 * 1024): Promise<string[]> {
  const got: string[] = [];
  const lines = openLines((line) => void got.push(line));
  for (let at = 0; at < bytes.length; at += piece) await lines.take(bytes.subarray(at, at + piece));
  lines.end();
  return got;
}

describe("a line", () => {
  it("is complete up to 4 KiB", async () => {
    expect(await linesOf(Buffer.from(`${"x".repeat(longestLine)}\ny`))).toEqual(["x".repeat(longestLine), "y"]);
  });

  it("is truncated after that, with the number of missing bytes", async () => {
    const [line, next] = await linesOf(Buffer.from(`${"x".repeat(300_000)}\ny`), 1000);
    expect(line).toBe(`${"x".repeat(longestLine)} … (${300_000 - longestLine} more bytes of this line are not shown)`);
    expect(next).toBe("y");
  });

  it("is truncated between two characters", async () => {
    const [line] = await linesOf(Buffer.from(`x${"ü".repeat(longestLine)}`));
    expect(line?.startsWith(`x${"ü".repeat(longestLine / 2 - 1)} …`)).toBe(true);
  });

  it("is the same for any chunks of bytes", async () => {
    const bytes = fc.array(fc.constantFrom("a", "ü", "🐧", "\n", "\n\n", "x".repeat(longestLine - 3), "EXEC: ["));
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 5000 }), async (words, piece) => {
        const whole = Buffer.from(words.join(""));
        expect(await linesOf(whole, piece)).toEqual(await linesOf(whole, whole.length + 1));
      }),
    );
  });
});

describe("a secret", () => {
  const secret = "geheimes-Wort";
  const programs = fc.constantFrom("usermod", "useradd", "chpasswd", "passwd");
  const filler = fc.oneof(
    fc.constantFrom("", " ", "x", "://", "https://a.example/ ", "EXEC: [true] ", "@", "\r", "ü"),
    fc.integer({ min: 0, max: 2 * longestLine }).map((length) => "y".repeat(length)),
    // Makes the truncation cut the secret in two.
    fc.integer({ min: longestLine - 60, max: longestLine + 10 }).map((length) => " ".repeat(length)),
  );
  const fillers = fc.array(filler, { maxLength: 4 }).map((all) => all.join(""));
  const hiding = fc.oneof(
    fc.tuple(fillers, fillers).map(([before, after]) => `${before}https://tux:${secret}@example.org/${after}`),
    fc.tuple(fillers, fillers).map(([before, after]) => `${before} svn+ssh://${secret}@p@ss@example.org${after}`),
    fc
      .tuple(fillers, programs, fillers, fillers)
      .map(([before, program, between, after]) => `${before}EXEC: [chroot ${program} ${between} ${secret} ${after}]`),
    fc
      .tuple(fillers, fillers, programs)
      .map(([before, between, program]) => `${before}EXEC: [env ${secret} ${between} ${program} root]`),
  );

  it("never appears in a line, of any length and in any chunks", async () => {
    await fc.assert(
      fc.asyncProperty(hiding, fc.integer({ min: 1, max: 9000 }), async (line, piece) => {
        const shown = (await linesOf(Buffer.from(line), piece)).join("\n");
        expect(shown).not.toContain(secret);
        expect(shown).not.toContain("geheim");
      }),
      { numRuns: 500 },
    );
  });

  it("does not remove the rest of its line", async () => {
    expect(await linesOf(Buffer.from("at https://tux:geheim@example.org/tiny now"))).toEqual([
      "at https://…@example.org/tiny now",
    ]);
  });
});
