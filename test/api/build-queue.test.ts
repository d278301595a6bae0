import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { cancelAllBuilds } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent, type FakeAgent } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

let tux: Client;
let agent: FakeAgent;
beforeEach(async () => {
  tux = await signedIn();
  agent = await fakeAgent();
  await cancelAllBuilds();
});

const asJson = { headers: { accept: "application/json" } };
const Seen = z.object({ running_build: z.object({ message: z.string(), queue_position: z.int().optional() }) });
const seen = async (id: number) =>
  Seen.parse(await (await tux.get(`/running_builds/${id}`, asJson)).json()).running_build;

const threeBuilds = async () => {
  const ids: number[] = [];
  for (const _ of [1, 2, 3]) ids.push(await startBuild(tux, await createAppliance(tux)));
  return ids as [number, number, number];
};

describe("the queue", () => {
  it("shows for each build how many are ahead of it", async () => {
    const [first, second, third] = await threeBuilds();

    expect(await seen(first)).toMatchObject({ queue_position: 1, message: "Waiting for a builder" });
    const one = "Waiting in the queue: 1 build before this one.";
    expect(await seen(second)).toMatchObject({ queue_position: 2, message: one });
    const two = "Waiting in the queue: 2 builds before this one.";
    expect(await seen(third)).toMatchObject({ queue_position: 3, message: two });
  });

  it("moves up when a build ahead is claimed or cancelled", async () => {
    const [first, second, third] = await threeBuilds();

    const attempt = await agent.claimsBuild(first);
    await tux.delete(`/running_builds/${second}`);

    expect((await seen(third)).queue_position).toBe(1);
    expect(await seen(first)).not.toHaveProperty("queue_position");
    await attempt.call("release");
    expect((await seen(third)).queue_position).toBe(2);
  });

  it("does not change the XML elements", async () => {
    const [, second] = await threeBuilds();

    const { running_build: build } = await readXml(await tux.get(`/running_builds/${second}`));

    expect(Object.keys(build)).toEqual(["id", "state", "percent", "time_elapsed", "message", "version", "image_type"]);
    expect(build.message).toBe("Waiting in the queue: 1 build before this one.");
  });

  it("is reported to clients that follow the log", async () => {
    const [, second] = await threeBuilds();
    const answer = await tux.get(`/running_builds/${second}/log`, { headers: { accept: "text/event-stream" } });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();

    const { value } = (await reader?.read()) ?? {};
    await reader?.cancel();

    expect(value).toContain('"queue_position":2');
  });
});
