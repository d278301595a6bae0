import { z } from "zod";
import { BuildClaimRequest, BuildFailed, BuildFinished, Heartbeat, maxLogChunkBytes } from "#contract/index";
import { claimBuild } from "#domain/builds/claim";
import { answerImage } from "#http/image";
import { findAnyBuild } from "#storage/builds";
import { attemptOf, buildIdOf } from "#agent-api/attempt";
import { factory } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

const Offset = z.coerce.number().int().nonnegative();

export const builds = factory
  .createApp()
  .post("/claim", async (c) => {
    const { capabilities } = BuildClaimRequest.parse(await c.req.json());
    const build = await claimBuild(c.env, c.var.db, c.var.agent, capabilities);
    return c.json({ build });
  })
  .post("/:id/heartbeat", async (c) => {
    const { build, token } = attemptOf(c);
    const beat = Heartbeat.parse(await c.req.json());
    return c.json(accepted(await build.heartbeat(token, beat)));
  })
  .put("/:id/log", async (c) => {
    const { build, token } = attemptOf(c);
    const offset = Offset.parse(c.req.query("offset"));
    const bytes = await cappedBody(c.req.raw.body, maxLogChunkBytes);
    return c.json(accepted(await build.appendLog(token, offset, bytes)));
  })
  .post("/:id/finish", async (c) => {
    const { build, token } = attemptOf(c);
    const result = BuildFinished.parse(await c.req.json());
    return c.json(accepted(await build.finish(token, result)));
  })
  .post("/:id/fail", async (c) => {
    const { build, token } = attemptOf(c);
    const failure = BuildFailed.parse(await c.req.json());
    return c.json(accepted(await build.fail(token, failure)));
  })
  .post("/:id/release", async (c) => {
    const { build, token } = attemptOf(c);
    return c.json(accepted(await build.release(token)));
  })
  // Any agent may read any image: each of them could be the one that has to boot it.
  .get("/:id/image", async (c) => {
    const build = await findAnyBuild(c.var.db, buildIdOf(c));
    const answer = build && (await answerImage(c.env.BLOBS, c.req.raw, build));
    if (!answer) throw new AgentRefusal("no_image");
    return answer;
  });

async function cappedBody(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const whole = new Uint8Array(maxBytes);
  let size = 0;
  for await (const chunk of body ?? []) {
    if (size + chunk.byteLength > maxBytes) throw new AgentRefusal("too_large");
    whole.set(chunk, size);
    size += chunk.byteLength;
  }
  return whole.slice(0, size);
}
