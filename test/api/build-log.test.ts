import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runAlarm } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, type Attempt } from "../support/fake-agent.ts";
import { stopClock } from "../support/clock.ts";
import { tokenOf } from "../support/tokens.ts";

let tux: Client;
let attempt: Attempt;
let applianceId: number;
let buildId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  buildId = await startBuild(tux, applianceId);
  attempt = await (await fakeAgent()).claimsBuild(buildId);
});

const path = () => `/running_builds/${buildId}/log`;
const logText = async () => await (await tux.get(path())).text();

interface Event {
  event: string;
  id: string | undefined;
  data: string;
}

/** Reads server-sent events one at a time, without comments, as a browser does. */
async function follow(headers: Record<string, string> = {}, client = tux) {
  const answer = await client.get(path(), { headers: { accept: "text/event-stream", ...headers } });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";
  const next = async (): Promise<Event | undefined> => {
    for (;;) {
      const [block, ...rest] = unread.split("\n\n");
      if (rest.length === 0) {
        const { value, done = true } = (await reader?.read()) ?? {};
        if (done) return undefined;
        unread += value;
      } else {
        unread = rest.join("\n\n");
        const lines = block?.split("\n") ?? [];
        const field = (name: string) =>
          lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
        const [event] = field("event");
        if (event !== undefined) return { event, id: field("id")[0], data: field("data").join("\n") };
      }
    }
  };
  return { next, cancel: () => reader?.cancel() };
}

describe("GET running_builds/:id/log as text", () => {
  it.each(["v1", "v2"] as const)("returns the whole log so far on %s", async (version) => {
    await attempt.writesLog(0, "Grüße\n");

    const answer = await tux.on(version).get(path());

    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.get("content-length")).toBe("8");
    expect(await answer.text()).toBe("Grüße\n");
  });

  it("is empty before the first line", async () => {
    expect(await logText()).toBe("");
  });

  it("is the same before and after the rows become a blob", async () => {
    const line = `${"0123456789".repeat(100)}\n`;
    const chunk = line.repeat(60);
    for (let nth = 0; nth < 20; nth += 1) await attempt.writesLog(nth * chunk.length, chunk);
    const before = await logText();
    await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
    await runAlarm(buildId);

    expect(before).toBe(line.repeat(1200));
    expect(await logText()).toBe(before);
  });
});

describe("GET running_builds/:id/log as events", () => {
  // The service checks a client's right to read every 15 seconds.
  beforeEach(stopClock);
  afterEach(() => void vi.useRealTimers());

  it("ends when the token that opened it is revoked", async () => {
    const { id, client } = await tokenOf(tux);
    await attempt.writesLog(0, "first\n");
    const { next } = await follow({}, client);
    expect(await next()).toMatchObject({ data: "first" });
    expect(await next()).toMatchObject({ event: "progress" });

    await tux.delete(`/tokens/${id}`);
    vi.setSystemTime(Date.now() + 15_000);
    await attempt.writesLog(6, "second\n");

    expect(await next()).toBeUndefined();
  });

  it("ends when the appliance is no longer shared with the reader", async () => {
    const rhea = await signedIn();
    const sharing = `/appliances/${applianceId}/sharing/${rhea.username}`;
    await tux.post(sharing);
    await attempt.writesLog(0, "first\n");
    const [reader, owner] = [await follow({}, rhea), await follow()];
    for (const { next } of [reader, owner]) {
      expect(await next()).toMatchObject({ data: "first" });
      expect(await next()).toMatchObject({ event: "progress" });
    }

    await tux.delete(sharing);
    vi.setSystemTime(Date.now() + 15_000);
    await attempt.writesLog(6, "second\n");

    expect(await reader.next()).toBeUndefined();
    expect(await owner.next()).toMatchObject({ data: "second" });
  });

  it("sends every line and all progress as they occur, and the end", async () => {
    await attempt.writesLog(0, "first\nsec");
    const { next } = await follow();
    expect(await next()).toEqual({ event: "log", id: "6", data: "first" });
    expect(JSON.parse((await next())?.data ?? "")).toMatchObject({ state: "running", percent: 0 });

    await attempt.writesLog(9, "ond\r\nthird\n");
    expect(await next()).toEqual({ event: "log", id: "20", data: "second\nthird" });

    await attempt.beats({ percent: 77, message: "Compressing" });
    expect(JSON.parse((await next())?.data ?? "")).toEqual({
      state: "running",
      percent: 77,
      time_elapsed: expect.any(Number),
      time_left: expect.any(Number),
      message: "Compressing",
    });

    await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
    expect(JSON.parse((await next())?.data ?? "")).toMatchObject({ state: "failed", message: "Problem: no" });
    expect(await next()).toMatchObject({ event: "end" });
    expect(await next()).toBeUndefined();
  });

  it("starts with the tail, at the start of a line", async () => {
    const chunk = `${"x".repeat(99)}\n`.repeat(300);
    await attempt.writesLog(0, chunk);
    const { next, cancel } = await follow();

    const first = await next();

    expect(first?.data.length).toBe(163 * 100 - 1);
    expect(first?.id).toBe(String(chunk.length));
    await cancel();
  });

  it("resumes after the last event that the client received", async () => {
    await attempt.writesLog(0, "first\nsecond\n");
    const { next, cancel } = await follow({ "last-event-id": "6" });

    expect(await next()).toEqual({ event: "log", id: "13", data: "second" });
    await cancel();
  });

  it("never splits a character, for any chunks", async () => {
    const text = "Grüße aus der Küche\n";
    const bytes = bytesOf(text);
    await attempt.writesLog(0, bytes.slice(0, 3));
    const { next, cancel } = await follow();
    expect((await next())?.event).toBe("progress");

    for (const [index, byte] of bytes.slice(3).entries()) await attempt.writesLog(3 + index, Uint8Array.of(byte));

    expect(await next()).toEqual({ event: "log", id: String(bytes.byteLength), data: text.trim() });
    await cancel();
  });

  it("sends the last partial line and the end of an ended build", async () => {
    const { buildId: finished } = await createBuild(tux);
    await attempt.writesLog(0, "no newline at the end");
    await attempt.call("fail", { kind: "failed", reason: "Problem: no" });
    const { next } = await follow();
    expect(await next()).toMatchObject({ event: "log", data: "no newline at the end" });
    expect(await next()).toMatchObject({ event: "progress" });
    expect(await next()).toMatchObject({ event: "end" });

    buildId = finished;
    const other = await follow();
    expect(JSON.parse((await other.next())?.data ?? "")).toMatchObject({ state: "finished", percent: 100 });
    expect(await other.next()).toMatchObject({ event: "end" });
    expect(await other.next()).toBeUndefined();
  });
});
