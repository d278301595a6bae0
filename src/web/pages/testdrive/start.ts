import { id } from "#http/params";
import { guestOrigin } from "#domain/testdrives/guest-origin";
import { readSeed } from "#domain/testdrives/seed";
import { startTestdrive } from "#domain/testdrives/testdrive";
import { z } from "zod";
import { factory } from "../../factory.ts";
import { errorPage } from "../../error-page.tsx";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";

const Fields = z.object({
  build_id: id("invalid_build_id"),
  user_data: z.string().optional(),
  meta_data: z.string().optional(),
  network_config: z.string().optional(),
});

/** Starts a testdrive of the person's own build, and redirects to its page. */
export const startTestdrivePage = factory
  .createApp()
  .use("/testdrives", withSession)
  .post("/testdrives", (c) =>
    submit(c, {
      fields: Fields,
      rate: "testdrives",
      again: (c) => errorPage(c, { status: 422, message: c.var.given?.fault ?? "Choose a build." }),
      act: async ({ build_id: buildId, ...sent }, { requestId }) => {
        const { db, account, baseUrl } = c.var;
        const hasNetwork = guestOrigin(c.env, baseUrl) !== undefined;
        const request = { buildId, hasNetwork, seed: readSeed(sent), requestId };
        const { testdrive } = await startTestdrive({ env: c.env, db }, account, request);
        return { to: `/testdrive/${testdrive.id}/${testdrive.pageToken}` };
      },
    }),
  );
