import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { maxLogChunkBytes } from "../src/contract.ts";
import { openLogStream } from "../src/log-stream.ts";
import { eventually, temporaryDir } from "./support/agent-place.ts";

const everyMs = 10;

/** A Worker that stores what it gets, as `take` decides. */
async function stream(dir: string, take: (offset: number, bytes: Buffer) => number | Error, isWatched = true) {
  const failures: unknown[] = [];
  const log = await openLogStream({
    file: join(dir, "build.log"),
    everyMs,
    onFailure: (error) => void failures.push(error),
    send: async (offset, bytes) => {
      const answer = take(offset, Buffer.from(bytes));
      if (answer instanceof Error) throw answer;
      return { nextOffset: answer, watched: isWatched };
    },
  });
  return { log, failures };
}

describe("the log stream", () => {
  it("sends lines without waiting for the end", async () => {
    await using dir = await temporaryDir();
    let got = "";
    const { log } = await stream(dir.path, (_, bytes) => ((got += bytes.toString()), Buffer.byteLength(got)));

    log.write("one");
    await eventually("the first line", () => got === "one\n");
    log.write("zwölf");
    await log.close();

    expect(got).toBe("one\nzwölf\n");
  });

  it("waits five times as long between chunks while the log is not read", async () => {
    await using dir = await temporaryDir();
    // Writes the next line when the sender has found nothing more and has paused.
    const pausesMs = async (isWatched: boolean, isEnough: (pauses: number[]) => boolean) => {
      const pauses: number[] = [];
      let last = Number.NaN;
      const take = (offset: number, bytes: Buffer) => {
        const now = performance.now();
        if (!Number.isNaN(last)) pauses.push(now - last);
        last = now;
        setTimeout(() => log.write("a line"), 1);
        return offset + bytes.length;
      };
      const { log } = await stream(dir.path, take, isWatched);
      log.write("a line");
      await eventually("the pauses", () => isEnough(pauses));
      const seen = [...pauses];
      await log.close();
      return seen;
    };
    const unwatched = await pausesMs(false, (pauses) => pauses.length > 3);
    expect(Math.min(...unwatched)).toBeGreaterThan(5 * everyMs - 2);
    await pausesMs(true, (pauses) => pauses.some((pause) => pause < 3 * everyMs));
  });

  it("keeps chunks small and lines whole", async () => {
    await using dir = await temporaryDir();
    const chunks: Buffer[] = [];
    const { log } = await stream(dir.path, (offset, bytes) => (chunks.push(bytes), offset + bytes.length));

    for (let i = 0; i < 5_000; i++) log.write(`line ${i} ${"ü".repeat(20)}`);
    await log.close();

    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(maxLogChunkBytes);
    expect(chunks.every((chunk) => chunk.toString().endsWith("\n"))).toBe(true);
    expect(Buffer.concat(chunks).toString().split("\n")).toHaveLength(5_001);
  });

  it("continues at the Worker's offset", async () => {
    await using dir = await temporaryDir();
    let got = "";
    const take = (offset: number, bytes: Buffer) => {
      // Accepts 3 bytes at a time, and does not store bytes twice.
      got += bytes.toString().slice(got.length - offset, got.length - offset + 3);
      return got.length;
    };
    const { log } = await stream(dir.path, take);

    log.write("abcdefghij");
    await log.close();

    expect(got).toBe("abcdefghij\n");
  });

  it("goes back if the Worker has lost something", async () => {
    await using dir = await temporaryDir();
    let got = "";
    let hasLost = false;
    const take = (offset: number, bytes: Buffer) => {
      if (got.length > 6 && !hasLost) [hasLost, got] = [true, got.slice(0, 4)];
      if (offset <= got.length) got = got.slice(0, offset) + bytes.toString();
      return got.length;
    };
    const { log } = await stream(dir.path, take);

    for (const line of ["one", "two", "three", "four"]) {
      log.write(line);
      await eventually(line, () => got.endsWith(`${line}\n`));
    }
    await log.close();

    expect(hasLost).toBe(true);
    expect(got).toBe("one\ntwo\nthree\nfour\n");
  });

  it("loses nothing while the Worker cannot be reached", async () => {
    await using dir = await temporaryDir();
    let got = "";
    let isAway = true;
    const { log, failures } = await stream(dir.path, (_, bytes) =>
      isAway ? new Error("away") : ((got += bytes.toString()), got.length),
    );

    log.write("one");
    await eventually("a failure", () => failures.length > 0);
    isAway = false;
    log.write("two");
    await log.close();

    expect(got).toBe("one\ntwo\n");
  });
});
