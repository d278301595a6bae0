import { createServer } from "node:http";
import { once } from "node:events";
import { expect, it } from "vitest";
import { logAbout, openLog } from "../src/log.ts";
import { connectWorker } from "../src/worker-api.ts";

it("names the piece of work in every line, also as JSON", () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const about = { buildId: 7, attempt: 2, requestId: "client-4711" };
  logAbout(openLog(write), about)("heartbeat failed", { reason: "no answer" });
  logAbout(openLog(write, "json"), about)("heartbeat failed", { reason: "no answer" });

  expect(lines[0]).toMatch(/^\S+Z heartbeat failed buildId=7 attempt=2 requestId=client-4711 reason="no answer"$/);
  expect(JSON.parse(lines[1] ?? "")).toEqual({
    at: expect.any(String),
    event: "heartbeat failed",
    ...about,
    reason: "no answer",
  });
});

it("sends the id of the request that started a build with the calls about it, and with no others", async () => {
  const ids: unknown[] = [];
  const worker = createServer((request, response) => {
    ids.push(request.headers["x-request-id"]);
    response.setHeader("content-type", "application/json").end('{"build":null,"cancel":false}');
  }).listen(0, "127.0.0.1");
  await once(worker, "listening");
  const place = worker.address();
  const port = typeof place === "object" ? place?.port : undefined;
  const api = connectWorker({ url: `http://127.0.0.1:${port}`, token: "token" });
  const { signal } = new AbortController();
  const beat = { phase: "Preparing the build", percent: 0, message: "" } as const;
  await api.heartbeat({ id: 7, token: "attempt", requestId: "client-4711" }, beat, signal);
  await api.heartbeat({ id: 7, token: "attempt" }, beat, signal);
  const can = { arches: [], imageTypes: [], isolation: "vm", testdrives: false, builder: "1" } as const;
  await api.claimBuild({ ...can, arches: [], imageTypes: [] }, signal);
  worker.close();
  expect(ids).toEqual(["client-4711", undefined, undefined]);
});
