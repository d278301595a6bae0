import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { mailbox, sendJob, wakeAgent } from "#domain/jobs";
import worker from "../../src/index.ts";
import { patienceMs } from "../support/patience.ts";

const message = (id: string, body: unknown) => ({ id, timestamp: new Date(), attempts: 1, body });

const bodies = async () => {
  const { messages } = await mailbox(env).pull({ batchSize: 100, visibilityTimeoutMs: 60_000 });
  return messages.map(({ body }) => JSON.parse(atob(body)));
};

it("stores each wake-up in the mailbox once and skips invalid messages", async () => {
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  // All test files share the queue, and no other file has a build with this id.
  const buildId = Number.MAX_SAFE_INTEGER;
  const job = { kind: "build", buildId };
  const batch = createMessageBatch("kiln-jobs", [message("a", job), message("a", job), message("b", { kind: "cake" })]);
  const context = createExecutionContext();

  await worker.queue(batch, env);

  const { outcome, retryMessages } = await getQueueResult(batch, context);
  expect([outcome, retryMessages]).toEqual(["ok", []]);
  expect(complaint).toHaveBeenCalledTimes(1);
  complaint.mockRestore();
  expect((await bodies()).filter((body) => body.buildId === buildId)).toEqual([job]);
});

it("carries a wake-up from its sender to the mailbox", async () => {
  await sendJob(env, { kind: "testdrive", testdriveId: 5 });

  await vi.waitFor(
    async () => expect(await bodies()).toContainEqual({ kind: "testdrive", testdriveId: 5 }),
    patienceMs,
  );
});

it("goes on if no agent can be woken, because agents also poll the queue", async () => {
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  const wake = vi.fn().mockRejectedValue(new Error("overloaded"));
  const broken = { ...env, SWITCHBOARD: { getByName: () => ({ wake }) } };
  expect(await wakeAgent(broken as unknown as Env, { kind: "testdrive" })).toBe(false);
  expect(complaint).toHaveBeenCalledOnce();
  complaint.mockRestore();
});
