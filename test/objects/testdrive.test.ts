import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { maxFrameBytes } from "#lib/contract/index";
import { findTestdrive } from "#storage/testdrives";
import { signedIn, type Client } from "../support/client.ts";
import { stopClock } from "../support/clock.ts";
import {
  db,
  dialAsAgent,
  dial,
  joinedPair,
  objectOf,
  open,
  openControl,
  passTime,
  passTimeAlive,
  report,
  untilRowIs,
  runningDrive,
  startDrive,
  statusOf,
  until,
  type Drive,
} from "../support/testdrives.ts";

const rowState = async ({ id }: Drive) => (await findTestdrive(db, id))?.state;

describe("Testdrive", () => {
  beforeEach(stopClock);
  afterEach(() => void vi.useRealTimers());

  it("updates its row when the machine runs and when it ends", async () => {
    const drive = await startDrive(await signedIn());
    expect(await rowState(drive)).toBe("new");
    const control = await openControl(drive);
    report(control, { type: "preparing", message: "Fetching the image" });
    await until(async () => ((await statusOf(drive)).message === "Fetching the image" ? true : undefined));

    report(control, { type: "ready" });
    await untilRowIs(drive, "running");
    expect((await statusOf(drive)).state).toBe("running");
    report(control, { type: "stopped", reason: "The machine was powered off." });
    await untilRowIs(drive, "ended");

    expect((await statusOf(drive)).message).toBe("The machine was powered off.");
  });

  it("ends, and tells the agent, after 60 s without a viewer", async () => {
    const drive = await runningDrive(await signedIn());

    await passTimeAlive(drive, 29_000);
    expect((await statusOf(drive)).state).toBe("running");
    await passTimeAlive(drive, 29_000);
    await passTime(drive, 2_100);

    const reason = "No one was connected for 60 seconds.";
    expect(await statusOf(drive)).toMatchObject({ state: "ended", message: reason });
    expect(JSON.parse(String(await drive.control.next()))).toEqual({ type: "stop", reason });
    expect((await drive.control.closed).code).toBe(1000);
  });

  it("allows another 60 s after the last viewer leaves", async () => {
    const drive = await runningDrive(await signedIn());
    report(drive.control, { type: "tcp_viewers", count: 1 });
    await until(async () => ((await statusOf(drive)).viewers === 1 ? true : undefined));
    await passTimeAlive(drive, 29_000);
    await passTime(drive, 29_000);
    report(drive.control, { type: "tcp_viewers", count: 0 });
    await until(async () => ((await statusOf(drive)).viewers === 0 ? true : undefined));
    await passTimeAlive(drive, 29_000);

    await passTimeAlive(drive, 29_000);
    expect((await statusOf(drive)).state).toBe("running");
    await passTime(drive, 2_100);

    expect((await statusOf(drive)).state).toBe("ended");
  });

  it("ends and disconnects everyone if its agent is silent for 30 s", async () => {
    const drive = await runningDrive(await signedIn());
    const { browser, agent } = await joinedPair(drive);

    await passTime(drive, 30_000);

    expect((await statusOf(drive)).message).toMatch(/can no longer be reached/);
    expect([(await browser.closed).code, (await agent.closed).code]).toEqual([1000, 1000]);
    expect(await rowState(drive)).toBe("ended");
  });

  it("answers 410 to every socket after its end", async () => {
    const drive = await runningDrive(await signedIn());
    await objectOf(drive).stop();

    const answers = await Promise.all([
      dial(`${drive.page}/socket`),
      dialAsAgent(drive, "control"),
      dialAsAgent(drive, "viewers/plain-x"),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([410, 410, 410]);
  });

  it("closes a control socket that sends an invalid message; accepts another", async () => {
    const drive = await runningDrive(await signedIn());
    drive.control.socket.send("nonsense");
    expect((await drive.control.closed).code).toBe(1008);

    const again = await openControl(drive);
    report(again, { type: "ready" });
    const { order } = await joinedPair({ ...drive, control: again });

    expect(order.type).toBe("viewer");
  });

  it("replaces an old control socket with a new one", async () => {
    const drive = await runningDrive(await signedIn());

    const { control } = { control: await openControl(drive) };

    expect((await drive.control.closed).reason).toMatch(/has replaced it/);
    report(control, { type: "stopped", reason: "off" });
    await untilRowIs(drive, "ended");
  });

  it("deletes a session a day after its end", async () => {
    const drive = await runningDrive(await signedIn());
    await objectOf(drive).stop();

    await passTime(drive, 25 * 60 * 60_000);

    expect(await objectOf(drive).look()).toBeUndefined();
    expect(await statusOf(drive)).toMatchObject({ state: "ended", message: "The testdrive is over." });
  });
});

describe("the relay", () => {
  let tux: Client;
  let drive: Awaited<ReturnType<typeof runningDrive>>;
  beforeEach(async () => {
    tux = await signedIn();
    drive = await runningDrive(tux);
  });

  const everyByte = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) % 256);

  it("passes binary frames both ways unchanged, one by one", async () => {
    const { browser, agent } = await joinedPair(drive);

    agent.socket.send(everyByte.slice(0, maxFrameBytes));
    agent.socket.send(new Uint8Array([0]));
    browser.socket.send(everyByte.slice(0, 300));

    expect(new Uint8Array((await browser.next()) as ArrayBuffer)).toEqual(everyByte.slice(0, maxFrameBytes));
    expect(new Uint8Array((await browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([0]));
    expect(new Uint8Array((await agent.next()) as ArrayBuffer)).toEqual(everyByte.slice(0, 300));
    browser.socket.close();
    await agent.closed;
  });

  it("keeps viewers separate", async () => {
    const one = await joinedPair(drive);
    const two = await joinedPair(drive);

    two.agent.socket.send(new Uint8Array([2]));
    one.agent.socket.send(new Uint8Array([1]));

    expect(new Uint8Array((await one.browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([1]));
    expect(new Uint8Array((await two.browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([2]));
    one.browser.socket.close();
    two.browser.socket.close();
    await Promise.all([one.agent.closed, two.agent.closed]);
  });

  it("continues after the object was evicted", async () => {
    const { browser, agent } = await joinedPair(drive);
    report(drive.control, { type: "alive" });

    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });
    browser.socket.send(new Uint8Array([1, 2]));
    agent.socket.send(new Uint8Array([3]));

    expect(new Uint8Array((await agent.next()) as ArrayBuffer)).toEqual(new Uint8Array([1, 2]));
    expect(new Uint8Array((await browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([3]));
    expect(await statusOf(drive)).toMatchObject({ state: "running", viewers: 1 });
    browser.socket.close();
    await agent.closed;
  });

  it("keeps what a browser sends before the agent connects, through eviction", async () => {
    const browser = await open(`${drive.page}/socket`);
    const { viewer } = JSON.parse(String(await drive.control.next())) as { viewer: string };
    browser.socket.send(new Uint8Array([7]));
    browser.socket.send(new Uint8Array([8, 9]));
    await until(async () => ((await statusOf(drive)).viewers === 1 ? true : undefined));
    await evictDurableObject(objectOf(drive), { webSockets: "hibernate" });

    const joined = await dialAsAgent(drive, `viewers/${viewer}`);
    const frames: ArrayBuffer[] = [];
    joined.webSocket?.addEventListener("message", ({ data }) => void frames.push(data as ArrayBuffer));
    if (joined.webSocket) joined.webSocket.binaryType = "arraybuffer";
    joined.webSocket?.accept();
    await until(() => Promise.resolve(frames.length === 2 ? true : undefined));

    expect(frames.map((frame) => [...new Uint8Array(frame)])).toEqual([[7], [8, 9]]);
    browser.socket.close();
  });

  it("disconnects a browser that sends too much before its agent connects", async () => {
    const browser = await open(`${drive.page}/socket`);
    await drive.control.next();

    browser.socket.send(new Uint8Array(16 * 1024 + 1));

    expect((await browser.closed).code).toBe(1008);
  });

  it.each([
    ["browser", "agent"],
    ["agent", "browser"],
  ] as const)("closes the pair when the %s closes, with its code", async (first, second) => {
    const pair = await joinedPair(drive);

    pair[first].socket.close(4321, "enough");

    expect(await pair[second].closed).toEqual({ code: 4321, reason: "enough" });
  });

  it("replaces a close code that must not be sent", async () => {
    const { browser, agent } = await joinedPair(drive);

    browser.socket.close(); // without a code: the object sees 1005

    expect((await agent.closed).code).toBe(1000);
  });

  it("negotiates the subprotocol, and marks the viewer's id for credit", async () => {
    const credited = await joinedPair(drive, "binary, kiln.credit");
    const binary = await joinedPair(drive, "binary");
    const plain = await joinedPair(drive);

    expect([credited.browser.protocol, credited.order.viewer.split("-")[0]]).toEqual(["kiln.credit", "credit"]);
    expect([binary.browser.protocol, binary.order.viewer.split("-")[0]]).toEqual(["binary", "plain"]);
    expect([plain.browser.protocol, plain.order.viewer.split("-")[0]]).toEqual([null, "plain"]);
    for (const { browser } of [credited, binary, plain]) browser.socket.close();
    await Promise.all([credited, binary, plain].map(({ agent }) => agent.closed));
  });

  it("passes credit to the agent", async () => {
    const { browser, agent } = await joinedPair(drive, "kiln.credit");

    browser.socket.send('{"credit":4096}');

    expect(await agent.next()).toBe('{"credit":4096}');
    browser.socket.close();
    await agent.closed;
  });

  it.each([
    ["browser", '{"credit":0}', 1008],
    ["browser", "hello", 1008],
    ["agent", '{"credit":1}', 1008],
    ["agent", new Uint8Array(maxFrameBytes + 1), 1009],
    ["browser", new Uint8Array(maxFrameBytes + 1), 1009],
  ] as const)("closes both when the %s sends an invalid frame", async (side, frame, code) => {
    const pair = await joinedPair(drive);

    pair[side].socket.send(frame);

    expect((await pair.browser.closed).code).toBe(code);
    expect((await pair.agent.closed).code).toBe(code);
  });

  it("accepts one agent connection per viewer", async () => {
    const { browser, agent, order } = await joinedPair(drive);

    expect((await dialAsAgent(drive, `viewers/${order.viewer}`)).status).toBe(410);

    browser.socket.close();
    await agent.closed;
    expect((await dialAsAgent(drive, `viewers/${order.viewer}`)).status).toBe(410);
  });

  it("accepts at most five viewers", async () => {
    const five = await Promise.all([1, 2, 3, 4, 5].map(() => open(`${drive.page}/socket`)));

    expect((await dial(`${drive.page}/socket`)).status).toBe(503);

    for (const { socket } of five) socket.close();
    for (let i = 0; i < 5; i++) await drive.control.next();
  });

  it("notifies a reconnected agent of viewers without a connection", async () => {
    const drive = await startDrive(tux);
    await open(`${drive.page}/socket`);

    const control = await openControl(drive);

    expect(JSON.parse(String(await control.next()))).toMatchObject({ type: "viewer" });
  });
});
