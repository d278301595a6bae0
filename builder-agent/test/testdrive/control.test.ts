import { describe, expect, it } from "vitest";
import type { TestdriveOrder } from "../../src/contract.ts";
import { Control } from "../../src/testdrive/control.ts";
import { eventually } from "../support/agent-place.ts";
import { sessionToken, startFakeService } from "./fake-service.ts";

async function openSession(more: { maxLostMs?: number; aliveEveryMs?: number; refuse?: number } = {}) {
  const service = await startFakeService();
  service.refuseControl = more.refuse;
  const orders: TestdriveOrder[] = [];
  const lost: string[] = [];
  const control = new Control({
    dial: () => service.api.openControl({ id: 5, token: sessionToken }),
    onOrder: (order) => orders.push(order),
    onLost: (reason) => lost.push(reason),
    ...more,
  });
  return {
    service,
    control,
    orders,
    lost,
    async [Symbol.asyncDispose]() {
      await control.finish("the test is over");
      await service[Symbol.asyncDispose]();
    },
  };
}

describe("Control", () => {
  it("reconnects when its socket breaks, and repeats its state", async () => {
    await using session = await openSession();
    const { service, control } = session;
    control.report({ type: "preparing", message: "Fetching the image" });
    control.report({ type: "ready" });
    control.report({ type: "tcp_viewers", count: 2 });
    await eventually("first reports", () => service.said("tcp_viewers").length > 0);
    service.reports.length = 0;
    service.control.terminate();
    await eventually("reports again", () => service.said("tcp_viewers").length > 0);
    expect(service.reports).toEqual([{ type: "ready" }, { type: "tcp_viewers", count: 2 }]);
    expect(session.lost).toEqual([]);
  });

  it("passes on orders and ignores unknown messages", async () => {
    await using session = await openSession();
    await eventually("a socket", () => session.service.controls.length > 0);
    for (const text of ["no json", '{"type":"dance"}', "7"]) session.service.control.send(text);
    session.service.order({ type: "viewer", viewer: "credit-1" });
    await eventually("an order", () => session.orders.length > 0);
    expect(session.orders).toEqual([{ type: "viewer", viewer: "credit-1" }]);
  });

  it.each([404, 410])("gives up immediately if the service answers %i", async (refuse) => {
    await using session = await openSession({ refuse });
    await eventually("the end", () => session.lost.length > 0);
    expect(session.lost).toEqual(["The service has ended this session."]);
  });

  it("gives up only if the service is unreachable for too long", async () => {
    await using session = await openSession({ refuse: 503, maxLostMs: 700 });
    await eventually("the end", () => session.lost.length > 0);
    expect(session.lost).toEqual(["The builder agent lost its connection to the service."]);
    // The first pause is at most 250 ms, so there is always time for a second attempt.
    expect(session.service.refusedControls).toBeGreaterThan(1);
  });

  it("reports that it is alive", async () => {
    await using session = await openSession({ aliveEveryMs: 20 });
    await eventually("signs of life", () => session.service.said("alive").length > 2);
  });

  it("repeats with it what the service may have lost", async () => {
    await using session = await openSession({ aliveEveryMs: 20 });
    session.control.report({ type: "ready" });
    session.control.report({ type: "tcp_viewers", count: 2 });
    await eventually("reports again", () => session.service.said("tcp_viewers").length > 2);
    expect(session.service.said("ready").length).toBeGreaterThan(2);
    expect(session.service.controls).toHaveLength(1);
  });

  it("sends its last message even if its socket is not open yet", async () => {
    await using session = await openSession();
    await session.control.finish("The image cannot be used.");
    expect(session.service.reports).toEqual([{ type: "stopped", reason: "The image cannot be used." }]);
  });
});
