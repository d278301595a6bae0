import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { eachLine } from "../../src/guest/pipe.ts";

describe("eachLine", () => {
  it("splits bytes into lines, however they are chunked", async () => {
    const lines: string[] = [];
    await eachLine(
      Readable.from([Buffer.from("a\nb"), Buffer.from("c\nlast")]),
      1_000,
      (line) => void lines.push(line),
    );
    expect(lines).toEqual(["a", "bc", "last"]);
  });

  it("stores a limited number of bytes, but still reads everything", async () => {
    const lines: string[] = [];
    let given = 0;
    const flood = function* () {
      for (; given < 1_000; given++) yield Buffer.from("0123456789\n");
    };
    await eachLine(Readable.from(flood()), 60, (line) => void lines.push(line));
    expect(given).toBe(1_000);
    expect(lines.filter((line) => line.includes("the rest is dropped"))).toHaveLength(1);
    expect(lines.join("").length).toBeLessThan(120);
  });
});
