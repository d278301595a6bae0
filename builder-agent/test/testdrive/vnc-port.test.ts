import { connect, createServer, type Socket } from "node:net";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { reserveVnc } from "../../src/testdrive/vnc-port.ts";
import { ownPort } from "../support/ports.ts";

const local = (from: number, to = from) => ({ vnc: { host: "127.0.0.1", ports: [from, to] as const } });

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket: Socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

describe("reserveVnc", () => {
  it("gives two sessions different ports, and none if all are taken", async () => {
    const config = local(ownPort(1), ownPort(2));
    const first = await reserveVnc(config);
    const second = await reserveVnc(config);
    expect([first?.port, second?.port].toSorted()).toEqual([ownPort(1), ownPort(2)]);
    expect(await reserveVnc(config)).toBeNull();
    await first?.release();
    const third = await reserveVnc(config);
    expect(third?.port).toBe(first?.port);
    await Promise.all([second?.release(), third?.release()]);
  });

  it("skips a port that another program listens on", async () => {
    const other = createServer().listen(ownPort(3), "127.0.0.1");
    await once(other, "listening");
    const reserved = await reserveVnc(local(ownPort(3), ownPort(4)));
    expect(reserved?.port).toBe(ownPort(4));
    await reserved?.release();
    other.close();
  });

  it("does not reuse a port given to QEMU until it is released", async () => {
    const reserved = await reserveVnc(local(ownPort(5)));
    await reserved?.handOver();
    expect(await accepts(ownPort(5))).toBe(false);
    expect(await reserveVnc(local(ownPort(5)))).toBeNull();
    await reserved?.release();
    const next = await reserveVnc(local(ownPort(5)));
    expect(next?.port).toBe(ownPort(5));
    await next?.release();
  });

  it("hands over clients that connected before QEMU started", async () => {
    const reserved = await reserveVnc(local(ownPort(6)));
    const accepted = new Promise((resolve) => subscribe("net.server.socket", resolve));
    const client = connect({ host: "127.0.0.1", port: ownPort(6) });
    await Promise.all([once(client, "connect"), accepted]);
    const early = await reserved?.handOver();
    expect(early).toHaveLength(1);
    early?.[0]?.write("RFB");
    expect(String(await once(client, "data"))).toBe("RFB");
    await reserved?.release();
    await once(client, "close");
  });

  it("gives clients the public address, and listens on all addresses", async () => {
    const reserved = await reserveVnc({ vnc: { host: "203.0.113.5", ports: [ownPort(7), ownPort(7)] } });
    expect(reserved).toMatchObject({ host: "203.0.113.5", bindHost: "0.0.0.0" });
    await reserved?.release();
  });

  it.each([
    ["no address is configured", { vnc: null }],
    ["all ports are below those that QEMU can use", local(5_000, 5_899)],
  ])("gives none if %s", async (_, config) => {
    expect(await reserveVnc(config)).toBeNull();
  });
});
