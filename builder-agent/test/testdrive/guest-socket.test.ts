import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, type Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { answerVisit, type Visit } from "../../src/testdrive/guest-web.ts";
import { eventually } from "../support/agent-place.ts";
import { sessionToken, startFakeService } from "./fake-service.ts";

/** Sends the beginning of a handshake's answer, and then the rest one byte at a time. */
function drip(socket: Duplex): void {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nx-slow: ");
  const timer = setInterval(() => socket.write("x"), 20);
  socket.on("close", () => clearInterval(timer)).on("error", () => {});
}

/** A guest that echoes what it receives, and the Worker's side of the visitor. */
async function place() {
  const guestSockets = new WebSocketServer({ noServer: true, handleProtocols: () => "chat" });
  const requests: IncomingMessage[] = [];
  const server = createServer((_, response) => response.writeHead(426).end("no socket here"));
  server.on("upgrade", (request, socket, head) => {
    requests.push(request);
    if (request.url === "/slow") return drip(socket);
    if (request.url !== "/echo") return void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnope");
    return guestSockets.handleUpgrade(request, socket, head, (guest) =>
      guest.on("message", (data, isBinary) => guest.send(data, { binary: isBinary })).on("error", () => {}),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const service = await startFakeService();
  return {
    guestSockets,
    requests,
    service,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of guestSockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service[Symbol.asyncDispose]();
    },
  };
}

const visitOf = (at: { service: { api: Visit["api"] }; port: number }, target: string): Visit => ({
  visit: "v",
  request: {
    method: "GET",
    target,
    headers: { "sec-websocket-protocol": "chat, other", "user-agent": "x" },
    hasBody: false,
    isSocket: true,
  },
  testdrive: { id: 1, token: sessionToken },
  endpoint: { host: "127.0.0.1", port: at.port },
  api: at.service.api,
  signal: new AbortController().signal,
});

describe("a visitor's WebSocket", () => {
  it("is joined with the guest's, in texts and bytes, with its protocol, until it closes", async () => {
    await using at = await place();
    const ended = answerVisit(visitOf(at, "/echo"));
    await eventually("the agent has dialled", () => at.service.visits.size === 1);
    const visitor = at.service.visits.get("v");
    const said: string[] = [];
    visitor?.on("message", (data, isBinary) => said.push(`${isBinary} ${String(data)}`));

    visitor?.send("text");
    visitor?.send(Buffer.from("bytes"));
    await eventually("both are back", () => said.length === 2);
    visitor?.close(4001, "enough");
    await ended;

    expect(said).toEqual(["false text", "true bytes"]);
    expect([visitor?.protocol, at.requests[0]?.headers["user-agent"]]).toEqual(["chat", "x"]);
    expect([at.requests[0]?.headers.host, at.requests[0]?.headers.cookie]).toEqual(["10.0.2.15", undefined]);
    await eventually("the guest's is closed", () => at.guestSockets.clients.size === 0);
  });

  it("ends with the session", async () => {
    await using at = await place();
    const session = new AbortController();
    const ended = answerVisit({ ...visitOf(at, "/echo"), signal: session.signal });
    await eventually("the agent has dialled", () => at.service.visits.size === 1);

    session.abort();
    await ended;

    await eventually("the guest's is closed", () => at.guestSockets.clients.size === 0);
  });

  it("gets an answer where none is opened, late, or there is no guest", async () => {
    await using at = await place();
    const shown: [number, string][] = [];
    const api: Visit["api"] = {
      openVisit: () => {
        throw new Error("this visit is no socket");
      },
      readVisit: async () => Readable.from([]),
      answerVisit: async (_, { head, body }) => void shown.push([head.status, String(await buffer(body))]),
    };

    await answerVisit({ ...visitOf(at, "/other"), api });
    await answerVisit({ ...visitOf(at, "/echo"), api, endpoint: null });
    await answerVisit({ ...visitOf(at, "/slow"), api, limits: { answerMs: 300 } });
    await answerVisit({ ...visitOf(at, "/echo"), api, endpoint: { host: "127.0.0.1", port: 1 } });

    expect(shown).toEqual([
      [403, "nope"],
      [502, "This machine has no network.\n"],
      [504, "The machine's web server has not answered within 0.3 seconds.\n"],
      [502, "No web server answers on port 80 of the machine. It may still be starting.\n"],
    ]);
  });
});
