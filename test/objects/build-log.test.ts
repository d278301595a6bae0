import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { maxLogBytes } from "#objects/build-log";
import { runningBuild } from "../support/build-objects.ts";
import { objectOfBuild } from "../support/builds.ts";

async function logOf(buildId: number): Promise<string> {
  const slice = await (await objectOfBuild(buildId)).readLog({ from: 0, maxBytes: 1000 });
  return new TextDecoder().decode(slice?.bytes);
}

describe("the log of a build", () => {
  it.each([
    { what: "the next chunk", offset: 6, text: "world\n", nextOffset: 12, whole: "hello\nworld\n" },
    { what: "the same chunk again", offset: 0, text: "hello\n", nextOffset: 6, whole: "hello\n" },
    { what: "a chunk that overlaps", offset: 3, text: "lo\nworld\n", nextOffset: 12, whole: "hello\nworld\n" },
    { what: "a chunk after a gap", offset: 7, text: "orld\n", nextOffset: 6, whole: "hello\n" },
    { what: "an empty chunk", offset: 6, text: "", nextOffset: 6, whole: "hello\n" },
  ])("accepts $what", async ({ offset, text, nextOffset, whole }) => {
    const { buildId, attempt } = await runningBuild();
    await attempt.writesLog(0, "hello\n");

    const answer = await attempt.writesLog(offset, text);

    expect(await answer.json()).toEqual({ nextOffset });
    expect(await logOf(buildId)).toBe(whole);
  });

  it("keeps a lost attempt's log, and counts the next from 0", async () => {
    const { buildId, agent, attempt } = await runningBuild();
    await attempt.writesLog(0, "half a li");
    await attempt.call("release");
    const second = await agent.claimsBuild(buildId);

    expect(await (await second.writesLog(0, "anew\n")).json()).toEqual({ nextOffset: 5 });

    expect(await logOf(buildId)).toBe("half a li\n---- attempt 2 ----\nanew\n");
  });

  it("is truncated with a notice when it gets too long", async () => {
    const { buildId, attempt, object } = await runningBuild();
    await runInDurableObject(object, (_build, { storage }) => {
      storage.kv.put("log", { attempt: 1, received: 100, length: maxLogBytes - 4, cut: false });
    });

    expect(await (await attempt.writesLog(100, "1234567\n")).json()).toEqual({ nextOffset: 108 });
    expect(await (await attempt.writesLog(108, "more\n")).json()).toEqual({ nextOffset: 113 });

    const slice = await (await objectOfBuild(buildId)).readLog({ from: maxLogBytes - 4, maxBytes: 1000 });
    expect(new TextDecoder().decode(slice?.bytes)).toMatch(/^1234\n---- the log was cut here: .*64 MiB ----\n$/);
  });

  it("wakes a waiting reader", async () => {
    const { attempt, object } = await runningBuild();
    const seen = (await object.readLog({ from: 0, maxBytes: 10 }))?.revision ?? -1;

    const waiting = object.readLog({ from: 0, maxBytes: 10, waitMs: 10_000, seen });
    await attempt.writesLog(0, "news\n");

    expect(new TextDecoder().decode((await waiting)?.bytes)).toBe("news\n");
  });

  it("does not wake who waits for progress, as a heartbeat does", async () => {
    const { attempt, object } = await runningBuild();
    const question = { from: 0, maxBytes: 0, onlyProgress: true };
    const seen = (await object.readLog(question))?.revision ?? -1;
    let isAwake = false;

    const waiting = object.readLog({ ...question, waitMs: 60_000, seen }).finally(() => (isAwake = true));
    await attempt.writesLog(0, "a line\n");
    // The object answers this after the chunk, when it has woken everyone who waits for the chunk.
    await object.readLog({ from: 0, maxBytes: 10 });
    expect(isAwake).toBe(false);
    await attempt.beats({ percent: 40 });

    expect((await waiting)?.progress).toMatchObject({ state: "running", percent: 40 });
  });
});
