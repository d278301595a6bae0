import { z } from "zod";
import {
  BuildClaimRequest,
  BuildFailed,
  BuildFinished,
  Heartbeat,
  maxLogChunkBytes,
  RebuiltImage,
  type RebuiltAnswer,
} from "#lib/contract/index";
import { claimBuild } from "#domain/builds/claim";
import { attemptOf } from "#agent-api/attempt";
import { registered } from "#agent-api/authenticate";
import { readBytes, readMessage } from "#agent-api/body";
import { factory } from "#agent-api/factory";
import { accepted } from "#agent-api/refusal";

/** A result lists all packages of the image: at most a few tens of thousands, with 200 bytes each. */
const maxResultBytes = 16 * 1024 * 1024;
const Offset = z.coerce.number().int().nonnegative();

export const builds = factory
  .createApp()
  .post("/claim", async (c) => {
    const request = await readMessage(c, BuildClaimRequest);
    const build = await claimBuild({ env: c.env, db: c.var.db }, await registered(c), request);
    return c.json({ build });
  })
  .post("/:id/heartbeat", async (c) => {
    const { build, token } = attemptOf(c);
    const beat = await readMessage(c, Heartbeat);
    return c.json(accepted(await build.heartbeat(token, beat)));
  })
  .put("/:id/log", async (c) => {
    const { build, token } = attemptOf(c);
    const offset = Offset.parse(c.req.query("offset"));
    const bytes = await readBytes(c, maxLogChunkBytes);
    return c.json(accepted(await build.appendLog(token, offset, bytes)));
  })
  .post("/:id/rebuilt", async (c) => {
    const { build, token } = attemptOf(c);
    const image = await readMessage(c, RebuiltImage);
    return c.json<z.infer<typeof RebuiltAnswer>>(accepted(await build.stateRebuilt(token, image)));
  })
  .post("/:id/finish", async (c) => {
    const { build, token } = attemptOf(c);
    const result = await readMessage(c, BuildFinished, maxResultBytes);
    return c.json(accepted(await build.finish(token, result)));
  })
  .post("/:id/fail", async (c) => {
    const { build, token } = attemptOf(c);
    const failure = await readMessage(c, BuildFailed);
    return c.json(accepted(await build.fail(token, failure)));
  })
  .post("/:id/release", async (c) => {
    const { build, token } = attemptOf(c);
    return c.json(accepted(await build.release(token)));
  });
