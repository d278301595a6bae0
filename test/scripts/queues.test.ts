import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";

const config = join(import.meta.dirname, "../../wrangler.toml");

describe.each(["", "production"])("the queues of environment %j", (environment) => {
  const { producers, consumers } = unstable_readConfig({ config, env: environment }).queues;
  const consumer = (queue: string) =>
    consumers?.find((one: { queue: string }) => one.queue === queue) ?? expect.fail(`no ${queue}`);

  it.each(["kiln-imports", "kiln-slow-imports"])("limit %s, and keep messages that are killed", (queue) => {
    expect(producers?.map((one: { queue: string }) => one.queue)).toContain(queue);
    const { max_concurrency, max_batch_size, dead_letter_queue } = consumer(queue);
    expect([max_batch_size, dead_letter_queue]).toEqual([1, "kiln-dead-imports"]);
    expect(max_concurrency).toBeLessThanOrEqual(4);
  });

  it("repeat no chore of the sweep: the next minute does", () => {
    expect(producers?.map((one: { queue: string }) => one.queue)).toContain("kiln-chores");
    expect(consumer("kiln-chores").max_retries).toBe(0);
  });

  it("have a consumer for dead messages", () => {
    expect(consumer("kiln-dead-imports").max_retries).toBe(10);
  });
});

it("gives each chore its own invocation on Cloudflare", () => {
  const { consumers } = unstable_readConfig({ config, env: "production" }).queues;
  expect(consumers?.find((one: { queue: string }) => one.queue === "kiln-chores")?.max_batch_size).toBe(1);
});
