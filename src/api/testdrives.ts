import { z } from "zod";
import { startTestdrive } from "#domain/testdrive";
import { listLiveTestdrives } from "#storage/testdrives";
import { arrayOf } from "#xml/write";
import { factory } from "#api/factory";
import { id, parseParams, readParams } from "#api/params";
import { xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { listedTestdriveFields, startedTestdriveFields } from "#api/views/testdrive";

export const TestdriveRequest = z.object({ build_id: id("invalid_build_id") });

export const testdrives = factory
  .createApp()
  // v1 has no list, though it has this path.
  .get("/testdrives", v2Only, async (c) => {
    const live = await listLiveTestdrives(c.var.db, c.var.account.id);
    return xml(c, "testdrives", arrayOf("testdrive", live.map(listedTestdriveFields)));
  })
  .post("/testdrives", async (c) => {
    const { build_id: buildId } = parseParams(TestdriveRequest, await readParams(c));

    const started = await startTestdrive(c.env, c.var.db, c.var.account, buildId);

    return xml(c, "testdrive", startedTestdriveFields(started, c.var.baseUrl));
  });
