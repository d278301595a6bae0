import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { env } from "cloudflare:workers";
import { attemptHeader, maxGuestAnswerBytes } from "#lib/contract/index";
import { signedIn, visit } from "../support/client.ts";
import { answerVisit, bodyOfVisit, webDrive } from "../support/guest-web.ts";
import { stopClock } from "../support/clock.ts";
import {
  dial,
  objectOf,
  open,
  openControl,
  passTime,
  passTimeAlive,
  startDrive,
  statusOf,
  until,
} from "../support/testdrives.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Waits for that many viewers. On a busy machine, the service refuses some questions while it holds many requests. */
const viewersAre = ({ page }: Parameters<typeof statusOf>[0], count: number) =>
  until(async () => {
    const answer = await visit(`${page}/state`);
    const { viewers } = answer.status === 429 ? { viewers: undefined } : await answer.json<{ viewers: number }>();
    return viewers === count ? true : undefined;
  });

describe("visitors of a guest's web server", () => {
  it("count as connected while they are served", async () => {
    stopClock();
    const drive = await webDrive(await signedIn());
    await passTimeAlive(drive, 29_000);
    await passTimeAlive(drive, 29_000);

    const page = visit(drive.web);
    const order = await drive.nextVisit();
    await viewersAre(drive, 1);
    await passTimeAlive(drive, 29_000);
    await answerVisit(drive, order.visit, { status: 200, headers: {} }, "late");
    expect(await (await page).text()).toBe("late");
    await viewersAre(drive, 0);

    await passTimeAlive(drive, 29_000);
    await passTimeAlive(drive, 29_000);
    expect((await statusOf(drive)).state).toBe("running");
    await passTime(drive, 2_100);
    expect(await statusOf(drive)).toMatchObject({ state: "ended", message: "No one was connected for 60 seconds." });
  });

  it("learn that the machine is starting or its host is away", async () => {
    const tux = await signedIn();
    const starting = await startDrive(tux, null, { network: "on" });
    const early = await visit(starting.web ?? "");

    const drive = await webDrive(tux);
    drive.control.socket.close(1000);
    await drive.control.closed;
    const alone = await visit(drive.web);

    expect([early.status, await early.text()]).toEqual([503, "This machine is still starting.\n"]);
    expect([alone.status, await alone.text()]).toEqual([503, expect.stringContaining("cannot be reached")]);
    expect((await statusOf(drive)).viewers).toBe(0);
  });

  it("are served 32 at a time", async () => {
    // On a slow machine, the first visit would reach its time limit before the last one has started.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const drive = await webDrive(await signedIn());

    const pages = Array.from({ length: 32 }, () => visit(drive.web));
    await viewersAre(drive, 32);
    expect((await visit(drive.web)).status).toBe(503);
    await objectOf(drive).stop();

    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([410]));
  });

  it("slow the guest down when they read slowly", async () => {
    const drive = await webDrive(await signedIn());
    const page = visit(drive.web);
    const { visit: id } = await drive.nextVisit();
    let sent = 0;
    const chunk = new Uint8Array(64 * 1024);
    const much = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 512 * chunk.length) return controller.close();
        sent += chunk.length;
        controller.enqueue(chunk);
      },
    });

    const answered = answerVisit(drive, id, { status: 200, headers: {} }, much);
    const answer = await page;
    await scheduler.wait(300);
    const sentUnread = sent;
    const body = await answer.arrayBuffer();

    expect(sentUnread).toBeLessThan(4 * 1024 * 1024);
    expect([body.byteLength, (await answered).status]).toEqual([512 * chunk.length, 204]);
  });

  it("get no more than a guest may send", async () => {
    const drive = await webDrive(await signedIn());
    const page = visit(drive.web);
    const { visit: id } = await drive.nextVisit();
    const chunk = new Uint8Array(1024 * 1024);
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });

    const answered = answerVisit(drive, id, { status: 200, headers: {} }, endless);
    let received = 0;
    const reading = (async () => {
      for await (const bytes of (await page).body ?? []) received += bytes.byteLength;
    })();

    await expect(reading).rejects.toThrow();
    expect((await answered).status).toBe(410);
    expect(received).toBeLessThanOrEqual(maxGuestAnswerBytes);
    expect(received).toBeGreaterThan(maxGuestAnswerBytes / 2);
  });

  it("get one answer each", async () => {
    const drive = await webDrive(await signedIn());
    const page = visit(drive.web);
    const { visit: id } = await drive.nextVisit();
    const first = new TransformStream<Uint8Array, Uint8Array>();

    const answered = answerVisit(drive, id, { status: 200, headers: {} }, first.readable);
    const body = (await page).text();
    expect((await answerVisit(drive, id, { status: 200, headers: {} }, "second")).status).toBe(410);
    const writer = first.writable.getWriter();
    await writer.write(new TextEncoder().encode("first"));
    await writer.close();

    expect([await body, (await answered).status]).toEqual(["first", 204]);
  });

  it("can send only what a machine accepts, whatever length they claim", async () => {
    const drive = await webDrive(await signedIn());
    const chunk = new Uint8Array(1024 * 1024);
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });

    const page = visit(drive.web, { method: "POST", body: endless });
    const { visit: id, request } = await drive.nextVisit();
    const taken = (await bodyOfVisit(drive, id)).arrayBuffer();

    expect(request.hasBody).toBe(true);
    await expect(taken).rejects.toThrow();
    expect((await page).status).toBe(413);
    expect((await answerVisit(drive, id, { status: 200, headers: {} }, "late")).status).toBe(410);
  });

  it("who leave notify the agent and free their slot", async () => {
    const drive = await webDrive(await signedIn());
    const page = visit(drive.web);
    const { visit: id } = await drive.nextVisit();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });

    const answered = answerVisit(drive, id, { status: 200, headers: {} }, endless);
    await (await page).body?.cancel();

    expect((await answered).status).toBe(410);
    await viewersAre(drive, 0);
  });

  it.each([
    ["by an invalid id", "x.y", { status: 200, headers: {} }, 400],
    ["for an unknown visit", "unknown", { status: 200, headers: {} }, 410],
    ["with an invalid status", undefined, { status: 700, headers: {} }, 400],
  ])("are not answered %s", async (_what, id, head, status) => {
    const drive = await webDrive(await signedIn());
    const page = visit(drive.web);
    const order = await drive.nextVisit();

    expect((await answerVisit(drive, id ?? order.visit, head)).status).toBe(status);

    await answerVisit(drive, order.visit, { status: 200, headers: {} }, "good");
    expect(await (await page).text()).toBe("good");
  });

  it("get a WebSocket of the guest, with its protocol, without their cookies", async () => {
    const drive = await webDrive(await signedIn());
    const secrets = { cookie: "a=b", authorization: "Basic eDp5" };
    const opening = open(`${drive.web}chat`, { ...secrets, "sec-websocket-protocol": "chat, other" });
    const { visit: id, request } = await drive.nextVisit();
    const guest = await open(`/agent/testdrives/${drive.id}/visits/${id}/socket`, {
      authorization: `Bearer ${env.AGENT_TOKEN}`,
      [attemptHeader]: drive.claim.token,
      "sec-websocket-protocol": "chat",
    });
    const visitor = await opening;

    expect(request).toMatchObject({ method: "GET", target: "/chat", isSocket: true });
    expect(request.headers).toEqual({ "accept-encoding": "identity", "sec-websocket-protocol": "chat, other" });
    expect(visitor.protocol).toBe("chat");
    visitor.socket.send("a text");
    guest.socket.send(new Uint8Array([1, 2]));
    expect([await guest.next(), new Uint8Array((await visitor.next()) as ArrayBuffer)]).toEqual([
      "a text",
      new Uint8Array([1, 2]),
    ]);
    await viewersAre(drive, 1);
    guest.socket.close(4001, "enough");
    expect(await visitor.closed).toEqual({ code: 4001, reason: "enough" });
    await viewersAre(drive, 0);
  });

  it("get the answer of a guest that opens no WebSocket", async () => {
    const drive = await webDrive(await signedIn());
    const asked = dial(drive.web);
    const order = await drive.nextVisit();
    await answerVisit(drive, order.visit, { status: 403, headers: {} }, "nope");
    const answer = await asked;

    expect([answer.status, answer.webSocket, await answer.text()]).toEqual([403, null, "nope"]);
    expect(answer.headers.get("content-security-policy")).toMatch(/^sandbox /);
  });

  it("have at most five WebSockets at a time", async () => {
    const drive = await webDrive(await signedIn());
    const asked = Array.from({ length: 5 }, () => dial(drive.web));
    const orders = [];
    for (const _ of asked) orders.push(await drive.nextVisit());

    expect((await dial(drive.web)).status).toBe(503);

    for (const { visit: id } of orders) await answerVisit(drive, id, { status: 403, headers: {} }, "nope");
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    const again = dial(drive.web);
    await answerVisit(drive, (await drive.nextVisit()).visit, { status: 404, headers: {} }, "nope");
    expect((await again).status).toBe(404);
  });

  it("lose their WebSocket at the end of the session, and for too many bytes", async () => {
    const tux = await signedIn();
    for (const end of ["session", "bytes"]) {
      const drive = await webDrive(tux);
      const opening = open(drive.web);
      const { visit: id } = await drive.nextVisit();
      const guest = await open(`/agent/testdrives/${drive.id}/visits/${id}/socket`, {
        authorization: `Bearer ${env.AGENT_TOKEN}`,
        [attemptHeader]: drive.claim.token,
      });
      const visitor = await opening;

      if (end === "session") await objectOf(drive).stop();
      else for (let mebi = 0; mebi <= 16; mebi++) guest.socket.send(new Uint8Array(2 ** 20));

      expect((await visitor.closed).code).toBe(end === "session" ? 1001 : 1009);
    }
  });

  it("cannot be answered by another session's agent", async () => {
    const tux = await signedIn();
    const [drive, other] = [await webDrive(tux), await webDrive(tux)];
    const page = visit(drive.web);
    const { visit: id } = await drive.nextVisit();

    const strange = { ...drive, claim: other.claim };
    const answers = [
      await answerVisit(strange, id, { status: 200, headers: {} }, "evil"),
      await bodyOfVisit(strange, id),
    ];
    await answerVisit(drive, id, { status: 200, headers: {} }, "good");

    expect(answers.map(({ status }) => status)).toEqual([410, 410]);
    expect(await (await page).text()).toBe("good");
  });

  it("are forgotten when the service restarts, which serves new ones", async () => {
    const drive = await webDrive(await signedIn());
    const lost = visit(drive.web);
    const { visit: id } = await drive.nextVisit();
    await runInDurableObject(objectOf(drive), (_, state) => state.abort("a new version")).catch(() => {});
    expect((await lost).status).toBe(503);

    const control = await openControl(drive);
    expect((await answerVisit(drive, id, { status: 200, headers: {} }, "late")).status).toBe(410);
    const again = visit(drive.web);
    const order = JSON.parse(String(await control.next())) as { visit: string };
    await answerVisit(drive, order.visit, { status: 200, headers: {} }, "again");

    expect(await (await again).text()).toBe("again");
  });
});
