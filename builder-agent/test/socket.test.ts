import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { redialHeader, type AgentNotice } from "../src/contract.ts";
import { keepSocket } from "../src/socket.ts";
import type { Log } from "../src/log.ts";
import { eventually } from "./support/agent-place.ts";

interface Wish {
  answersPings?: boolean;
  /** Headers of the answer that opens a WebSocket. */
  headers?: string[];
  reportEveryMs?: number;
}

/** A server, and a socket that stays connected to it until the end of the test. */
async function keep({ answersPings = true, headers = [], reportEveryMs = 50 }: Wish = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const connections: WebSocket[] = [];
  let pings = 0;
  const reports: string[] = [];
  let load = 0;
  server.on("headers", (answer) => void answer.push(...headers));
  const answer = (socket: WebSocket, word: string) => {
    if (word !== "ping") return void reports.push(word);
    pings++;
    if (answersPings) socket.send("pong");
  };
  server.on("connection", (socket) =>
    connections.push(socket.on("message", (data) => answer(socket, data.toString()))),
  );
  const notices: AgentNotice[] = [];
  const stopping = new AbortController();
  const dial = () => new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const onNotice = (notice: AgentNotice) => void notices.push(notice);
  const report = async () => ({ type: "report", load, freeGb: 9, slots: { builds: 1, testdrives: 4 } }) as const;
  const changes = new EventTarget();
  const pauses: number[] = [];
  const log: Log = (_what, facts) => void pauses.push(Number(facts?.["redialInMs"] ?? []));
  const kept = keepSocket({ dial, onNotice, report, changes, log, pingEveryMs: 100, reportEveryMs }, stopping.signal);
  await eventually("the connection", () => connections.length === 1);
  const stop = async () => {
    stopping.abort();
    await kept;
  };
  return {
    connections,
    notices,
    pings: () => pings,
    reports,
    isBusy: () => (load = 90),
    changes,
    /** The pause before it connects again. 0 for every other line of the log. */
    pauses,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      for (const socket of connections) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("the agent's socket", () => {
  it("passes on notices, and nothing else", async () => {
    await using socket = await keep();

    for (const message of ['{"type":"cancel","buildId":7}', "nonsense", '{"type":"dance"}', '{"type":"wake"}']) {
      socket.connections[0]?.send(message);
    }
    await eventually("the last notice", () => socket.notices.length === 3);

    // The socket sends the first notice itself, because work may have arrived while there was no socket.
    expect(socket.notices).toEqual([{ type: "wake" }, { type: "cancel", buildId: 7 }, { type: "wake" }]);
  });

  it("reports how the host is, when it opens and when something has changed", async () => {
    await using socket = await keep();

    await eventually("some pings", () => socket.pings() >= 2);
    expect(socket.reports.map((text) => JSON.parse(text))).toEqual([
      { type: "report", load: 0, freeGb: 9, slots: { builds: 1, testdrives: 4 } },
    ]);
    socket.isBusy();
    await eventually("the next report", () => socket.reports.length === 2);
  });

  it("reports at once when its slots have changed, even if they have changed back", async () => {
    await using socket = await keep({ reportEveryMs: 3_600_000 });
    await eventually("the first report", () => socket.reports.length === 1);
    socket.changes.dispatchEvent(new Event("change"));
    await eventually("the same report again", () => socket.reports.length === 2);
  });

  it("connects again within the time that the Worker has said", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => void vi.restoreAllMocks());
    await using socket = await keep({ headers: [`${redialHeader}: 4000`] });
    socket.connections[0]?.terminate();
    await eventually("the pause", () => socket.pauses.includes(2_000_000));
  });

  it("stays open while its pings are answered", async () => {
    await using socket = await keep();

    await eventually("more pings than a silent line gets", () => socket.pings() > 5);

    expect(socket.connections).toHaveLength(1);
    expect(socket.connections[0]?.readyState).toBe(WebSocket.OPEN);
  });

  it("treats a line without answers as dead, and reconnects", async () => {
    await using socket = await keep({ answersPings: false });

    await eventually("a second connection", () => socket.connections.length === 2);
  });

  it("does not wait for a silent Worker when it stops", async () => {
    await using socket = await keep();
    socket.connections[0]?.pause();

    const stoppedAt = Date.now();
    await socket.stop();

    // A normal close would wait 30 s for the answer.
    expect(Date.now() - stoppedAt).toBeLessThan(29_000);
  });
});
