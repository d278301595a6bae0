import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { eachLine } from "../../src/guest/pipe.ts";

describe("eachLine", () => {
  it("cuts bytes into lines, wherever they come apart", async () => {
    const lines: string[] = [];
    await eachLine(
      Readable.from([Buffer.from("a\nb"), Buffer.from("c\nlast")]),
      1_000,
      (line) => void lines.push(line),
    );
    expect(lines).toEqual(["a", "bc", "last"]);
  });

  it("keeps no more than it may, says so once, and still reads all, so that a guest does not wait for ever", async () => {
    const lines: string[] = [];
    let given = 0;
    const flood = function* () {
      for (; given < 1_000; given++) yield Buffer.from("0123456789\n");
    };
    await eachLine(Readable.from(flood()), 60, (line) => void lines.push(line));
    expect(given).toBe(1_000);
    expect(lines.filter((line) => line.includes("not kept"))).toHaveLength(1);
    expect(lines.join("").length).toBeLessThan(120);
  });
});
