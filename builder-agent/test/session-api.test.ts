import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { GuestAnswer, guestHeadHeader, readGuestHead } from "../src/contract.ts";
import { RemoteRefusal } from "../src/retry.ts";
import { sessionCalls } from "../src/session-api.ts";
import { eventually } from "./support/agent-place.ts";

const lease = { id: 7, token: "t", visit: "a/b?c" };
const { signal } = new AbortController();
const head = { status: 200, headers: { "content-type": "text/plain", "x-name": "Grüße" } };
const MiB = 1024 * 1024;

/** Sends calls to a real server that returns this answer. */
async function callsTo(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return sessionCalls(`http://127.0.0.1:${port}`, ({ token }) => ({ authorization: "Bearer agent", "x-lease": token }));
}

/** Endless chunks on request, as from a socket. */
function endless() {
  const source = { given: 0 };
  const pieces = async function* () {
    for (;;) {
      source.given += MiB;
      await nextTurn();
      yield Buffer.alloc(MiB, "x");
    }
  };
  return { body: Readable.from(pieces(), { highWaterMark: 1 }), source };
}

describe("a visitor's request", () => {
  it("is read from its own path, with its testdrive's credentials", async () => {
    const seen: unknown[] = [];
    const calls = await callsTo((request, response) => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers["x-lease"]]);
      response.write("one ");
      response.end("two");
    });
    expect(await text(await calls.readVisit(lease, signal))).toBe("one two");
    expect(seen).toEqual([["GET", "/agent/testdrives/7/visits/a%2Fb%3Fc/body", "Bearer agent", "t"]]);
  });

  it("may be empty", async () => {
    const calls = await callsTo((_, response) => void response.writeHead(204).end());
    expect((await buffer(await calls.readVisit(lease, signal))).length).toBe(0);
  });

  it("fails if it breaks off", async () => {
    const calls = await callsTo((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("only this", () => response.destroy());
    });
    await expect(calls.readVisit(lease, signal).then(text)).rejects.toThrow();
  });

  it("ends when the testdrive does", async () => {
    const over = new AbortController();
    const calls = await callsTo((_, response) => void response.write("first"));
    const body = await calls.readVisit(lease, over.signal);
    body.once("data", () => over.abort(new Error("the testdrive is over")));
    await expect(buffer(body)).rejects.toThrow("the testdrive is over");
  });

  it("is refused with the Worker's status and the start of its message", async () => {
    const calls = await callsTo((_, response) => void response.writeHead(410).end("gone".repeat(1000)));
    const refusal = await calls.readVisit(lease, signal).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RemoteRefusal);
    expect(refusal).toMatchObject({ status: 410 });
    expect(String(refusal).length).toBeLessThan(500);
  });

  it("is never read from another origin, which would get the credentials", async () => {
    const asked: (string | undefined)[] = [];
    const calls = await callsTo(({ url }, response) => {
      asked.push(url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    await expect(calls.readVisit(lease, signal)).rejects.toThrow("fetch failed");
    expect(asked).toEqual(["/agent/testdrives/7/visits/a%2Fb%3Fc/body"]);
  });
});

describe("the answer to a visitor", () => {
  it("is sent as it arrives, with its head", async () => {
    const got = Promise.withResolvers<unknown>();
    const calls = await callsTo(async (request, response) => {
      const told = readGuestHead(GuestAnswer, String(request.headers[guestHeadHeader]));
      got.resolve([request.method, request.url, request.headers["x-lease"], told, await text(request)]);
      response.end("{}");
    });
    await calls.answerVisit(lease, { head, body: Readable.from([Buffer.from("one "), Buffer.from("two")]) }, signal);
    const url = "/agent/testdrives/7/visits/a%2Fb%3Fc/answer";
    expect(await got.promise).toEqual(["POST", url, "t", head, "one two"]);
  });

  it("is read no faster than the visitor accepts it", async () => {
    const { body, source } = endless();
    const over = new AbortController();
    const reads = Promise.withResolvers<void>();
    const calls = await callsTo((request) => {
      request.once("readable", () => reads.resolve()); // and does not read
    });
    const sending = calls.answerVisit(lease, { head, body }, over.signal);
    sending.catch(() => {});
    await reads.promise;
    let before = -1;
    await eventually("the source waits", () => before === (before = source.given));
    expect(source.given).toBeLessThan(64 * MiB);
    over.abort(new Error("the visitor has left"));
    await expect(sending).rejects.toThrow("the visitor has left");
    await eventually("the source's end", () => body.destroyed);
  });

  it.each([
    ["refuses it", (response: Parameters<RequestListener>[1]) => response.writeHead(410).end("gone"), /410/],
    ["breaks off", (response: Parameters<RequestListener>[1]) => response.destroy(), /fetch failed/],
  ])("fails and closes its source if the Worker %s", async (_, answer, why) => {
    const { body } = endless();
    const calls = await callsTo((request, response) => void request.once("data", () => answer(response)));
    await expect(calls.answerVisit(lease, { head, body }, signal)).rejects.toThrow(why);
    await eventually("the source's end", () => body.destroyed);
  });

  it("closes its source if the Worker is unreachable", async () => {
    const { body } = endless();
    const calls = sessionCalls("http://127.0.0.1:1", () => ({}));
    await expect(calls.answerVisit(lease, { head, body }, signal)).rejects.toThrow("fetch failed");
    await eventually("the source's end", () => body.destroyed);
  });

  it("fails if the guest's server breaks off", async () => {
    const body = Readable.from(
      (function* () {
        yield Buffer.from("first");
        throw new Error("the guest is gone");
      })(),
    );
    const calls = await callsTo((request) => void request.on("error", () => {}).resume());
    await expect(calls.answerVisit(lease, { head, body }, signal)).rejects.toThrow();
  });
});
