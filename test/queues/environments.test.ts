import { createMessageBatch, getQueueResult, createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import worker from "../../src/index.ts";

it.each(["kiln-chores", "kiln-staging-chores"])("takes messages of %s as chores", async (queue) => {
  const log = vi.spyOn(console, "error").mockReturnValue();
  const batch = createMessageBatch(queue, [{ id: "1", timestamp: new Date(), attempts: 1, body: "no chore" }]);
  const context = createExecutionContext();
  await worker.queue(batch, env);
  await getQueueResult(batch, context);
  expect(log.mock.calls[0]?.[0]).toMatch(/ a message is not a valid chore message=1: /);
  log.mockRestore();
});

it.each(["kiln-slow-imports", "kiln-staging-slow-imports", "kiln-dead-imports", "kiln-staging-imports"])(
  "takes messages of %s as imports",
  async (queue) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const batch = createMessageBatch(queue, [{ id: "1", timestamp: new Date(), attempts: 1, body: "no import" }]);
    await worker.queue(batch, env);
    expect(log.mock.calls[0]?.[0]).toMatch(/ a message is not a valid import request message=1: /);
    log.mockRestore();
  },
);
