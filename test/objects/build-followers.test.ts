/** How a build's object sends changes to a client, and what the client gets if that fails. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pingEveryMs } from "#domain/builds/build-socket";
import { followBuild, followProgress, type BuildNews } from "#domain/builds/log";
import { openDatabase } from "#storage/db";
import { runningBuild } from "../support/build-objects.ts";
import { rowOfBuild } from "../support/builds.ts";
import { patienceMs } from "../support/patience.ts";
import { away, withFate } from "../support/storage-faults.ts";
import { moveClock } from "../support/webhooks.ts";

let calls: string[];
let isOld = false;
/** An object of the previous release has no `fetch`. */
const counted = async (name: string, call: () => Promise<unknown>) => {
  if (name.startsWith("object ")) calls.push(name);
  if (isOld && name === "object fetch") away(name);
  return await call();
};
beforeEach(() => {
  calls = [];
  isOld = false;
});
afterEach(() => {
  vi.useRealTimers();
});

/** A running build, and a client that has read its log so far. */
async function followed() {
  const build = await runningBuild();
  await build.attempt.writesLog(0, "first\n");
  const follower = followBuild(env, openDatabase(env), await rowOfBuild(build.buildId), undefined);
  const next = async (): Promise<BuildNews | undefined> => (await follower.next()).value ?? undefined;
  expect(await next()).toMatchObject({ type: "log", text: "first\n" });
  expect(await next()).toMatchObject({ type: "progress" });
  return { ...build, next, close: () => follower.return(undefined) };
}

/** Every line until `last` has arrived. */
async function linesUntil(last: string, next: () => Promise<BuildNews | undefined>): Promise<string> {
  let text = "";
  while (!text.endsWith(last)) {
    const news = await next();
    if (!news) throw new Error("it has ended");
    if (news.type === "log") text += news.text;
  }
  return text;
}

it("costs no call for a line or a percent", async () => {
  await withFate(counted, async () => {
    const { attempt, next, close } = await followed();
    calls = [];
    const [line, percent] = [next(), () => next()];
    await attempt.writesLog(6, "second\n");
    expect(await line).toEqual({ type: "log", text: "second\n", offset: 13 });
    await attempt.beats({ percent: 40 });
    expect(await percent()).toMatchObject({ type: "progress", progress: { percent: 40 } });
    expect(calls).toEqual(["object appendLog", "object heartbeat"]);
    await close();
  });
});

it("goes on after the object has hibernated", async () => {
  const { attempt, object, next, close } = await followed();
  await evictDurableObject(object, { webSockets: "hibernate" });
  expect(await (await attempt.writesLog(6, "second\n")).json()).toEqual({ nextOffset: 13, watched: true });
  expect(await next()).toMatchObject({ text: "second\n" });
  await close();
});

it("gives a client that is slow each line once", async () => {
  const { attempt, next, close } = await followed();
  for (const [nth, line] of ["b\n", "c\n", "half"].entries()) await attempt.writesLog(6 + 2 * nth, line);
  await attempt.beats({ percent: 2 });
  await attempt.writesLog(14, " a line\n");
  expect(await linesUntil("half a line\n", next)).toBe("b\nc\nhalf a line\n");
  await close();
});

it("asks for news if the object has no sockets", async () => {
  isOld = true;
  await withFate(counted, async () => {
    const { attempt, next, close } = await followed();
    const line = next();
    await attempt.writesLog(6, "second\n");
    expect(await line).toMatchObject({ text: "second\n" });
    await attempt.beats({ percent: 40 });
    expect(await next()).toMatchObject({ type: "progress", progress: { percent: 40 } });
    expect(calls).toContain("object readLog");
    await close();
  });
});

it("asks for news after its socket was lost", async () => {
  const { attempt, object, next, close } = await followed();
  const line = next();
  await runInDurableObject(object, (_, ctx) => {
    for (const socket of ctx.getWebSockets()) socket.close(1011);
  });
  await withFate(counted, async () => {
    expect(await line).toEqual({ type: "silence" }); // it has asked whether it missed anything
    const more = next();
    await attempt.writesLog(6, "second\n");
    expect(await more).toMatchObject({ text: "second\n" });
  });
  expect(calls).toContain("object readLog");
  await close();
});

it("keeps the socket of a client whose messages leave no silence", async () => {
  moveClock(-1.5 * pingEveryMs);
  const { attempt, object, next, close } = await followed();
  vi.useRealTimers();
  const line = next();

  await attempt.writesLog(6, "second\n");

  expect(await line).toMatchObject({ text: "second\n" });
  const pongs = () =>
    runInDurableObject(object, (_, ctx) =>
      ctx.getWebSockets().map((socket) => ctx.getWebSocketAutoResponseTimestamp(socket)),
    );
  await vi.waitFor(async () => expect(await pongs()).toEqual([expect.any(Date)]), patienceMs);
  await close();
});

it("closes the socket of a Worker that died without a close", async () => {
  const { attempt, object } = await runningBuild();
  moveClock(-3 * pingEveryMs);
  const { webSocket } = await object.fetch("https://build/?what=log", { headers: { upgrade: "websocket" } });
  vi.useRealTimers();
  const messages: unknown[] = [];
  const closed = new Promise((resolve) => {
    webSocket?.addEventListener("message", ({ data }) => messages.push(data));
    webSocket?.addEventListener("close", ({ code }) => resolve(code));
  });
  webSocket?.accept();

  expect(await (await attempt.writesLog(0, "first\n")).json()).toEqual({ nextOffset: 6 });

  expect(await closed).toBe(1001);
  expect(messages).toEqual([]);
});

it("sends who follows only the progress no lines, and the end", async () => {
  const { attempt, buildId } = await runningBuild();
  const follower = followProgress(env, openDatabase(env), await rowOfBuild(buildId));
  expect((await follower.next()).value).toMatchObject({ type: "progress", progress: { state: "running" } });
  const next = follower.next();
  await attempt.writesLog(0, "first\n");
  await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
  expect((await next).value).toMatchObject({ type: "progress", progress: { state: "failed" } });
  expect((await follower.next()).value).toEqual({ type: "end" });
});
