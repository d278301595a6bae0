import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { expectError } from "../support/xml.ts";

const secret = "no such table: accounts at /srv/kiln/storage.js:42 token=abc123";

/** A database whose every query fails. */
const broken = new Proxy(env.DB, {
  get() {
    throw new Error(secret);
  },
});

const ask = (path: string, init: RequestInit = {}) =>
  app.fetch(new Request(`https://kiln.test${path}`, init), { ...env, DB: broken }, createExecutionContext());

const basic = { authorization: `Basic ${btoa("tux:key")}` };
const bearer = { authorization: `Bearer ${env.ADMIN_SECRET}` };

let written = vi.spyOn(console, "error");
beforeEach(() => {
  written = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => void written.mockRestore());

/** Checks that the text contains nothing of the exception, its stack, or Kiln's file names. */
function expectNothingInside(text: string): void {
  for (const word of ["no such table", "abc123", "/srv", ".ts", "Error:", "    at "]) expect(text).not.toContain(word);
  // A page may name its scripts, but not one of their lines.
  expect(text).not.toMatch(/\.js\b(?!")/);
}

describe("a failure inside the service", () => {
  it.each([
    ["GET", "/api/v1/user/account"],
    ["GET", "/api/v2/user/appliances"],
    ["POST", "/api/v2/user/appliances?clone_from=1"],
    ["PUT", "/api/v2/user/appliances/1/software"],
    ["DELETE", "/api/v2/user/appliances/1"],
    ["GET", "/download/token/file"],
    ["GET", "/user/show_api_key"],
    ["GET", "/agreements/tiny-1.0"],
  ])("returns only internal_error for %s %s", async (method, path) => {
    const answer = await ask(path, { method, headers: basic });

    const text = await answer.clone().text();
    await expectError(answer, 500, "internal_error");
    expectNothingInside(text);
    expect([...answer.headers.values()].join("\n")).not.toContain("abc123");
    expect(written.mock.calls.flat().join("\n")).toContain(secret);
  });

  it("is a page for a browser", async () => {
    const answer = await ask("/user/show_api_key", { headers: { ...basic, accept: "text/html" } });

    expect(answer.status).toBe(500);
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expectNothingInside((await answer.text()).replace(/<link[^>]*>/g, ""));
  });

  it.each([
    ["/admin/accounts", bearer],
    ["/agent/hello", { ...bearer, "content-type": "application/json" }],
  ])("reveals nothing at %s either", async (path, headers) => {
    const method = path.startsWith("/agent") ? "POST" : "GET";

    const answer = await ask(path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });

    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(text).toContain("internal_error");
    expectNothingInside(text);
  });
});
