import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { creditWindowBytes, maxFrameBytes } from "../../src/contract.ts";
import { joinViewer } from "../../src/testdrive/vnc-tunnel.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { type FakeViewer, sessionToken, startFakeService } from "./fake-service.ts";

/** A viewer's connection: a socket that replaces QEMU at one end, and the Worker's socket at the other. */
async function joined(viewer: string) {
  const service = await startFakeService();
  const dir = await temporaryDir();
  const vncPath = join(dir.path, "vnc.sock");
  const server = createServer().listen(vncPath);
  const over = new AbortController();
  const settled = joinViewer({
    viewer,
    dial: () => service.api.openViewer({ id: 5, token: sessionToken }, viewer),
    vncPath,
    signal: over.signal,
  });
  const [qemu]: Socket[] = await once(server, "connection");
  if (!qemu) throw new Error("nobody connected");
  const page: FakeViewer = await eventually("the viewer's socket", () => service.viewers.get(viewer));
  return {
    qemu,
    page,
    settled,
    over,
    async [Symbol.asyncDispose]() {
      over.abort();
      await settled;
      server.close();
      qemu.destroy();
      await service[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const noise = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7 + (index >> 8)) % 256));

/** Sends keys to QEMU a few times, to give the tunnel time to send everything. */
async function roundTrips({ page, qemu }: Awaited<ReturnType<typeof joined>>): Promise<void> {
  for (let times = 0; times < 10; times++) {
    const typed = once(qemu, "data");
    page.socket.send(Buffer.from("keys"));
    await typed;
  }
}

describe("joinViewer", () => {
  it("carries bytes both ways, unchanged, in frames of at most 64 KiB", async () => {
    await using pair = await joined("plain-1");
    const screen = noise(3_000_000);
    pair.qemu.write(screen);
    await eventually("the whole screen", () => pair.page.bytes.length >= screen.length);
    expect(screen.equals(pair.page.bytes)).toBe(true);
    expect(Math.max(...pair.page.frames.map((frame) => frame.length))).toBeLessThanOrEqual(maxFrameBytes);
    const typed = once(pair.qemu, "data");
    pair.page.socket.send(Buffer.from("keys"));
    expect(String(await typed)).toBe("keys");
  });

  it("joins many small writes into one frame", async () => {
    await using pair = await joined("plain-1");
    pair.qemu.setNoDelay(true);
    for (let index = 0; index < 1_000; index++) pair.qemu.write("0123456789");
    await eventually("all of it", () => pair.page.bytes.length === 10_000);
    expect(pair.page.frames.length).toBeLessThan(100);
  });

  it("sends at most a window ahead of a viewer's credit", async () => {
    await using pair = await joined("credit-1");
    const screen = noise(creditWindowBytes + 500_000);
    pair.qemu.write(screen);
    await eventually("a window", () => pair.page.bytes.length === creditWindowBytes);
    await roundTrips(pair);
    expect(pair.page.bytes.length).toBe(creditWindowBytes);
    pair.page.credit(100_000);
    await eventually("the credit", () => pair.page.bytes.length === creditWindowBytes + 100_000);
    await roundTrips(pair);
    expect(pair.page.bytes.length).toBe(creditWindowBytes + 100_000);
    pair.page.credit(900_000);
    await eventually("the rest", () => pair.page.bytes.length === screen.length);
    expect(screen.equals(pair.page.bytes)).toBe(true);
  });

  it("does not read from QEMU while a viewer does not consume", async () => {
    await using pair = await joined("credit-1");
    for (let index = 0; index < 64; index++) pair.qemu.write(Buffer.alloc(65_536));
    await eventually("a window", () => pair.page.bytes.length === creditWindowBytes);
    await roundTrips(pair);
    // Bytes beyond the window wait in QEMU's own buffer, not in the agent's.
    expect(pair.qemu.writableLength).toBeGreaterThan(1_000_000);
    expect(pair.page.bytes.length).toBe(creditWindowBytes);
  });

  it("closes the viewer's socket when QEMU closes", async () => {
    await using pair = await joined("credit-1");
    pair.qemu.end("last words");
    await pair.settled;
    await eventually("the close", () => pair.page.closed);
    expect(pair.page.closed).toBe(1000);
    expect(String(pair.page.bytes)).toBe("last words");
  });

  it("closes QEMU's connection when the viewer leaves", async () => {
    await using pair = await joined("credit-1");
    const closed = once(pair.qemu, "close");
    pair.page.socket.close();
    await Promise.all([closed, pair.settled]);
  });

  it("closes both when the session ends", async () => {
    await using pair = await joined("credit-1");
    const closed = once(pair.qemu, "close");
    pair.over.abort();
    await Promise.all([closed, pair.settled]);
    await eventually("the close", () => pair.page.closed !== undefined);
  });

  it.each(["no json", '{"credit":0}', '{"credit":"1"}'])("disconnects a viewer that sends %s", async (text) => {
    await using pair = await joined("credit-1");
    pair.page.socket.send(text);
    await eventually("the close", () => pair.page.closed);
    expect(pair.page.closed).toBe(1008);
  });
});
