import { DrizzleQueryError } from "drizzle-orm/errors";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { logEvent, logFailure, writeLogAs } from "#log/log";
import { forRequest, requestIdOf } from "#log/request-id";

let written: string[];
beforeEach(() => {
  written = [];
  for (const method of ["error", "log"] as const) {
    vi.spyOn(console, method).mockImplementation((line: string) => void written.push(line));
  }
});
afterEach(() => {
  writeLogAs("text");
  vi.restoreAllMocks();
});

it("writes one JSON object per line on Cloudflare", () => {
  writeLogAs("json");
  forRequest("r-1", () => logFailure("a build failed", new Error("no\nspace"), { buildId: 7 }));
  forRequest("r-2", () => logEvent("request", { status: 200, code: undefined }));
  const [failure, request] = written.map((line) => JSON.parse(line) as Record<string, unknown>);

  expect(written.join("")).not.toContain("\n");
  expect(failure).toMatchObject({ level: "error", event: "a build failed", requestId: "r-1", buildId: 7 });
  expect(failure).toMatchObject({ error: "Error: no space", stack: expect.stringContaining("log.test.ts") });
  expect(request).toEqual({ at: expect.any(String), level: "info", event: "request", requestId: "r-2", status: 200 });
});

it("writes readable lines on one machine", () => {
  forRequest("r-1", () => logEvent("request", { path: "/a b", status: 200 }));
  logFailure("a chore failed", "it is late", { chore: "sweep" });

  expect(written[0]).toMatch(/^\d{4}-\S+Z request requestId=r-1 path="\/a b" status=200$/);
  expect(written[1]).toMatch(/Z a chore failed chore=sweep: it is late$/);
});

async function work(name: string): Promise<void> {
  await scheduler.wait(1);
  logEvent(name);
}

it("keeps the id of a request through everything that it awaits, and apart from others", async () => {
  await Promise.all([forRequest("one", () => work("first")), forRequest("two", () => work("second"))]);
  expect(written.map((line) => line.slice(25)).toSorted()).toEqual(["first requestId=one", "second requestId=two"]);
});

it("leaves out the values of a statement and the credentials in an address, also in causes and stacks", () => {
  const cause = new Error("cannot fetch https://tux:hush@example.org/repo");
  const query = new DrizzleQueryError("select ? from accounts", ["sesame", "rhea"], cause);
  for (const format of ["text", "json"] as const) {
    writeLogAs(format);
    logFailure("a request failed", new Error("outer", { cause: query }));
  }
  expect(written.join("\n")).toContain("select ? from accounts");
  for (const secret of ["sesame", "rhea", "hush", "tux"]) expect(written.join("\n")).not.toContain(secret);
});

it.each([
  ["7f3a-Client_1.2", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["", false],
  ["two words", false],
  ['"}{', false],
  [undefined, false],
])("takes the id %j: %j", (given, taken) => {
  expect(requestIdOf(given) === given).toBe(taken);
});
