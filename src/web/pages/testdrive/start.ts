import type { Context } from "hono";
import { id } from "#http/params";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { guestOrigin } from "#domain/testdrives/guest-origin";
import { readSeed } from "#domain/testdrives/seed";
import { startTestdrive } from "#domain/testdrives/testdrive";
import { findAnyBuild } from "#storage/builds";
import { z } from "zod";
import { factory, type WebEnv } from "../../factory.ts";
import { errorPage } from "../../error-page.tsx";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { showBuilds } from "../appliance/builds/build.tsx";
import { faultsOfSeed, seedForm, testdrivesPath } from "../appliance/builds/seeded.tsx";

const Fields = z.object({
  build_id: id("invalid_build_id"),
  user_data: z.string().optional(),
  meta_data: z.string().optional(),
  network_config: z.string().optional(),
  check_run: id("invalid_value").optional(),
});

/** Starts a testdrive of the person's own build, and redirects to its page. */
export const startTestdrivePage = factory
  .createApp()
  .use(testdrivesPath, withSession)
  .post(testdrivesPath, (c) =>
    submit(c, {
      fields: Fields,
      rate: "testdrives",
      faultsOf: faultsOfSeed,
      checks: ({ user_data, meta_data, network_config }) => [
        () => readSeed({ user_data }),
        () => readSeed({ meta_data }),
        () => readSeed({ network_config }),
      ],
      again: showAgain,
      act: async ({ build_id: buildId, check_run: checkRunId, ...sent }, { requestId }) => {
        const { db, account, baseUrl } = c.var;
        const hasNetwork = guestOrigin(c.env, baseUrl) !== undefined;
        const request = { buildId, checkRunId, hasNetwork, seed: readSeed(sent), requestId };
        const { testdrive } = await startTestdrive({ env: c.env, db }, account, request);
        return { to: `/testdrive/${testdrive.id}/${testdrive.pageToken}` };
      },
    }),
  );

/** The page of the builds, if its form with data was refused. The other forms are only a button. */
async function showAgain(c: Context<WebEnv>): Promise<Response> {
  const { account, db, given } = c.var;
  const build = await findAnyBuild(db, Number(given?.values["build_id"]?.[0]));
  if (!build || given?.form !== seedForm(build.id)) {
    return await errorPage(c, { status: 422, message: given?.fault ?? "Choose a build." });
  }
  c.set("appliance", await getOwnAppliance(db, account.id, build.applianceId));
  return await showBuilds(c);
}
