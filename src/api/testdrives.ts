import { z } from "zod";
import { guestWebUrl } from "#domain/testdrives/guest-web";
import { startTestdrive } from "#domain/testdrives/testdrive";
import { listLiveTestdrives } from "#storage/testdrives";
import { arrayOf } from "#wire/xml";
import { factory } from "#api/factory";
import { id, parseParams, readParams } from "#api/params";
import { xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { listedTestdriveFields, startedTestdriveFields } from "#api/views/testdrive";

export const TestdriveRequest = z.object({
  build_id: id("invalid_build_id"),
  /** Ours. */
  network: z.enum(["on", "off"], "invalid_value").default("off"),
});

export const testdrives = factory
  .createApp()
  // v1 has no list, though it has this path.
  .get("/testdrives", v2Only, async (c) => {
    const live = await listLiveTestdrives(c.var.db, c.var.account.id);
    return xml(
      c,
      "testdrives",
      arrayOf(
        "testdrive",
        live.map((testdrive) => listedTestdriveFields(testdrive, guestWebUrl(c.env, c.var.baseUrl, testdrive))),
      ),
    );
  })
  .post("/testdrives", async (c) => {
    const { build_id: buildId, network } = parseParams(TestdriveRequest, await readParams(c));

    const started = await startTestdrive(c.env, c.var.db, c.var.account, { buildId, hasNetwork: network === "on" });

    const webUrl = guestWebUrl(c.env, c.var.baseUrl, started.testdrive);
    return xml(c, "testdrive", startedTestdriveFields(started, c.var.baseUrl, webUrl));
  });
