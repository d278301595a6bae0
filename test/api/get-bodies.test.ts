import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { rows } from "./every-call/rows.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";
import { filled } from "./every-call/send.ts";

/**
 * Calls with parameters in the query. If parameters in the body also counted, a token's check of the query would be
 * useless.
 */
const calls = rows.filter(({ call, path }) => call.startsWith("GET ") && path.includes("?"));

let own: Sample;
beforeAll(async () => {
  await prepareSamples();
  own = await makeSample();
});
afterEach(() => vi.useRealTimers());

describe.each(calls.map((row) => [row.call, row] as const))("%s", (_call, row) => {
  it("ignores a body", async () => {
    const { ids } = row.fresh ? await row.fresh(own) : own;
    const [path = "", query = ""] = filled(row.path, ids).split("?");
    vi.useFakeTimers({ toFake: ["Date"] }); // some answers contain the age of something

    const withBody = await answerTo(path, query);

    expect(withBody).toEqual(await answerTo(path));
  });
});

async function answerTo(path: string, body?: string) {
  const { app } = await import("../../src/app.ts");
  const headers = {
    authorization: `Basic ${btoa(`${own.tux.username}:${own.tux.apiKey}`)}`,
    "content-type": "application/x-www-form-urlencoded",
  };
  const request = new Request(`https://kiln.test/api/v2/user${path}`, { method: "POST", headers, body: body ?? null });
  // Such requests can arrive over a connection, but `new Request` refuses to make one.
  Object.defineProperty(request, "method", { value: "GET" });
  const answer = await app.fetch(request, env, createExecutionContext());
  return { status: answer.status, text: await answer.text() };
}
