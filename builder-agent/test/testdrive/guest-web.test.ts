import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { GuestAnswer, GuestRequest } from "../../src/contract.ts";
import { answerVisit, type Visit } from "../../src/testdrive/guest-web.ts";
import { eventually } from "../support/agent-place.ts";
import { listenersIn } from "../support/listeners.ts";
import { startSession } from "./session.ts";

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const guest = (listener: RequestListener) => listening(createServer(listener));
/** A guest that answers every request with these bytes, and keeps the connection open. */
const rawGuest = (words: string) => {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {}).write(words);
  });
  return listening(server).then((place) => ({
    ...place,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await place[Symbol.asyncDispose]();
    },
  }));
};

/** Sends these bytes first, and then one byte at a time. */
const pieces = (first: string) =>
  guest((_, { socket }) => {
    socket?.write(first);
    const timer = setInterval(() => socket?.write("x"), 20);
    socket?.on("close", () => clearInterval(timer)).on("error", () => {});
  });

const refuseSocket = () => {
  throw new Error("this visit is no socket");
};

interface Shown {
  head: GuestAnswer;
  body: string;
}

/** The answer of the web server on that port to a visitor's request. */
async function visitTo(
  port: number | null,
  asked: Partial<GuestRequest> = {},
  body = "",
  limits: Visit["limits"] = {},
): Promise<Shown> {
  const shown = Promise.withResolvers<Shown>();
  const api: Visit["api"] = {
    openVisit: refuseSocket,
    readVisit: async () => Readable.from([Buffer.from(body)]),
    answerVisit: async (_, answer) => shown.resolve({ head: answer.head, body: String(await buffer(answer.body)) }),
  };
  const request: GuestRequest = { method: "GET", target: "/", headers: {}, hasBody: body !== "", ...asked };
  const testdrive = { id: 1, token: "token" };
  const { signal } = new AbortController();
  await answerVisit({
    visit: "v",
    request,
    testdrive,
    endpoint: port === null ? null : { host: "127.0.0.1", port },
    api,
    signal,
    limits,
  });
  return await shown.promise;
}

describe("answerVisit", () => {
  it("uses the guest's own address, and passes allowed headers on", async () => {
    await using server = await guest((request, response) => {
      response.setHeader("set-cookie", "a=b").setHeader("content-type", "text/plain").setHeader("x-powered-by", "x");
      response.end(`${request.method} ${request.url} ${request.headers.host} ${request.headers.accept}`);
    });

    const { head, body } = await visitTo(server.port, { target: "/a?b=%20c", headers: { accept: "text/plain" } });

    expect(head).toEqual({ status: 200, headers: { "content-length": "34", "content-type": "text/plain" } });
    expect(body).toBe("GET /a?b=%20c 10.0.2.15 text/plain");
  });

  it("sends the visitor's body, with its length if it is known", async () => {
    await using server = await guest(async (request, response) => {
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      response.end(`${length} ${coding} ${String(await buffer(request))}`);
    });

    const counted = await visitTo(server.port, { method: "POST", headers: { "content-length": "4" } }, "four");
    const open = await visitTo(server.port, { method: "PUT" }, "more");

    expect([counted.body, open.body]).toEqual(["4 undefined four", "undefined chunked more"]);
  });

  it("accepts the line endings of CGI programs", async () => {
    await using server = await rawGuest("HTTP/1.1 200 OK\r\nContent-Type: text/plain\nContent-Length: 4\n\ngood");

    expect(await visitTo(server.port)).toMatchObject({ head: { status: 200 }, body: "good" });
  });

  it("reports a guest that sends nothing, nonsense, or too much", async () => {
    await using silent = await rawGuest("");
    await using nonsense = await rawGuest("SSH-2.0-OpenSSH_9.9\r\n");
    await using oddStatus = await rawGuest("HTTP/1.1 999 Odd\r\n\r\n");
    await using long = await rawGuest(
      `HTTP/1.1 200 OK\r\nlocation: /${"x".repeat(15_900)}\r\netag: ${"%".repeat(300)}\r\n\r\n`,
    );
    const gone = await guest(() => {});
    await gone[Symbol.asyncDispose]();

    const others = [nonsense.port, oddStatus.port, long.port, gone.port, null];
    const shown = await Promise.all([
      visitTo(silent.port, {}, "", { silenceMs: 300 }),
      ...others.map((port) => visitTo(port)),
    ]);

    expect(shown.map(({ head }) => head.status)).toEqual([504, 502, 502, 502, 502, 502]);
    expect(shown.map(({ body }) => body)).toEqual([
      "The machine's web server has sent nothing for 0.3 seconds.\n",
      "The answer of the machine's web server cannot be forwarded.\n",
      "The answer of the machine's web server cannot be forwarded.\n",
      "The answer of the machine's web server cannot be forwarded.\n",
      "No web server answers on port 80 of the machine. It may still be starting.\n",
      "This machine has no network.\n",
    ]);
  });

  it("ends a guest that sends its answer byte by byte", async () => {
    await using head = await pieces("HTTP/1.1 200 OK\r\nx-slow: ");
    await using body = await pieces("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");

    const late = await visitTo(head.port, {}, "", { answerMs: 300 });
    const cut = visitTo(body.port, {}, "", { visitMs: 300 });

    expect([late.head.status, late.body]).toEqual([
      504,
      "The machine's web server has not answered within 0.3 seconds.\n",
    ]);
    await expect(cut).rejects.toThrow();
  });

  it("stops reading from the guest when the visitor has left", async () => {
    let closed = false;
    await using server = await guest((_, response) => {
      response.on("close", () => (closed = true));
      const write = () => response.write(Buffer.alloc(65_536), () => response.destroyed || setImmediate(write));
      write();
    });
    const api: Visit["api"] = {
      openVisit: refuseSocket,
      readVisit: async () => Readable.from([]),
      answerVisit: async () => {
        throw new Error("410");
      },
    };
    const request: GuestRequest = { method: "GET", target: "/", headers: {}, hasBody: false };
    const visit = {
      visit: "v",
      request,
      testdrive: { id: 1, token: "t" },
      endpoint: { host: "127.0.0.1", port: server.port },
      api,
    };

    await expect(answerVisit({ ...visit, signal: new AbortController().signal })).rejects.toThrow("410");

    await eventually("the guest's connection is closed", () => closed);
  });

  it("reads no faster than the visitor", async () => {
    let written = 0;
    await using server = await guest((_, response) => {
      const write = (): void => {
        if (response.destroyed) return;
        written += 65_536;
        response.write(Buffer.alloc(65_536), () => setImmediate(write));
      };
      write();
    });
    const api: Visit["api"] = {
      openVisit: refuseSocket,
      readVisit: async () => Readable.from([]),
      answerVisit: async () => void (await sleep(500)),
    };
    const request: GuestRequest = { method: "GET", target: "/", headers: {}, hasBody: false };
    const visit = {
      visit: "v",
      request,
      testdrive: { id: 1, token: "t" },
      endpoint: { host: "127.0.0.1", port: server.port },
      api,
    };

    await answerVisit({ ...visit, signal: new AbortController().signal });

    expect(written).toBeLessThan(32 * 1024 * 1024);
  });
});

describe("a session with a network", () => {
  it("listens on no address of this host, and is reached by its socket", async () => {
    await using session = await startSession({ change: (claim) => ({ ...claim, hasNetwork: true }) });
    await session.ready();

    const socket = connect(join(session.path, "web.sock"));
    await once(socket, "connect");
    socket.destroy();

    expect(listenersIn(session.path)).toEqual([]);
  });
});
