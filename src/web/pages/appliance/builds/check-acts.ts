import type { Context } from "hono";
import { pathId } from "#http/params";
import { answerBlob } from "#http/blob";
import { checkRunsOf, requestChecks } from "#domain/checks/request";
import { getScreen } from "#domain/gallery/screen";
import { factory, type WebEnv } from "../../../factory.ts";
import { submit } from "../../../submit.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const checksRoute = `${applianceRoute}/builds/:build{\\d+}/checks`;

/** Starts the checks of an image, and shows the picture that a run has taken. */
export const checkActs = (again: (c: Context<WebEnv>) => Promise<Response>) =>
  factory
    .createApp()
    .post(checksRoute, (c) =>
      submit(c, {
        rate: "testdrives",
        again,
        act: async (_, { requestId }) => {
          const { db, account, appliance } = c.var;
          const buildId = pathId(c, "build", "invalid_build_id");
          await requestChecks({ env: c.env, db }, account.id, { buildId, requestId });
          return { to: applianceAt(appliance.id, "build"), result: { text: "The checks have started." } };
        },
      }),
    )
    .get(`${checksRoute}/:run{\\d+}/screen`, async (c) => {
      const buildId = pathId(c, "build", "invalid_build_id");
      const runs = await checkRunsOf({ env: c.env, db: c.var.db }, c.var.account.id, buildId);
      const run = runs.find(({ id }) => id === Number(c.req.param("run")));
      const shown = run && (await getScreen(c.env, run));
      if (!shown) return c.notFound();
      const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
      answer.headers.set("cache-control", "private, max-age=3600");
      return answer;
    });
