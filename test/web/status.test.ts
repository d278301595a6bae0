import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { openDatabase } from "#storage/db";
import * as metrics from "#storage/metrics";
import { operate, signedIn, visit } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { pageOf, textOf } from "../support/html.ts";
import { messagesOfSweep } from "../support/sweep.ts";

/** Later than the time for which the page is cached. */
let later = 0;
beforeEach(() => {
  later += 11_000;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + later });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
beforeAll(async () => void (await messagesOfSweep()));

const statusPage = async () => await pageOf(visit("/status", { headers: { accept: "text/html" } }));

it("shows everyone that everything works", async () => {
  const page = await statusPage();
  expect(textOf(page, ".notice")).toBe("Everything works.");
  expect(textOf(page, ".facts")).toContain("Builds0 running, 0 waiting");
  expect(textOf(await pageOf(visit("/")), ".foot")).toContain("Status");
});

it("shows that builds wait, and names no account, agent or appliance", async () => {
  const tux = await signedIn();
  await startBuild(tux, await createAppliance(tux, { name: "Secret plans" }));
  await fakeAgent("host-in-berlin");
  const minutesAgo = Date.now() - 12 * 60_000;
  await env.DB.prepare("UPDATE builds SET created_at = ? WHERE status = 'queued'").bind(minutesAgo).run();

  const page = await statusPage();
  expect(textOf(page, ".notice")).toBe("Builds wait longer than usual.");
  expect(textOf(page, ".facts")).toMatch(/1 builder connected.*0 running, 1 waiting, the oldest for 12 min/);
  const source = await (await visit("/status")).text();
  for (const secret of [tux.username, "Secret plans", "host-in-berlin"]) expect(source).not.toContain(secret);
});

it("shows that nothing can be changed in read-only mode", async () => {
  await operate("PUT", "/read-only", { on: true });
  expect(textOf(await statusPage(), ".notice ~ .notice")).toContain("read-only mode");
  await operate("PUT", "/read-only", { on: false });
});

it("asks the database once for many visitors", async () => {
  await statusPage();
  const asked = vi.spyOn(metrics, "readAmounts");
  await Promise.all([statusPage(), statusPage(), statusPage()]);
  expect(asked).not.toHaveBeenCalled();
  vi.setSystemTime(Date.now() + 11_000);
  await statusPage();
  expect(asked).toHaveBeenCalledOnce();
});

it("answers 503 with a page if the database does not answer", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const { session } = openDatabase(env) as unknown as { session: { prepareQuery: () => unknown } };
  vi.spyOn(session, "prepareQuery").mockImplementation(() => {
    throw new Error("D1 is overloaded");
  });
  const answer = await visit("/status", { headers: { accept: "text/html" } });
  expect(answer.status).toBe(503);
  expect(textOf(await pageOf(answer), ".notice")).toContain("The database does not answer");
});
