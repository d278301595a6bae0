import type { Context } from "hono";
import { pathId } from "#http/params";
import { cancelRebuildOf, requestRebuild } from "#domain/builds/rebuild";
import { factory, type WebEnv } from "../../../factory.ts";
import { submit } from "../../../submit.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const rebuildsRoute = `${applianceRoute}/builds/:build{\\d+}/rebuilds`;

/** Starts and cancels the rebuild of an image. */
export const rebuildActs = (again: (c: Context<WebEnv>) => Promise<Response>) =>
  factory
    .createApp()
    .post(rebuildsRoute, (c) =>
      submit(c, {
        rate: "builds",
        again,
        act: async (_, { requestId }) => {
          const { db, account, appliance } = c.var;
          const buildId = pathId(c, "build", "invalid_build_id");
          await requestRebuild({ env: c.env, db }, account.id, { buildId, requestId });
          return { to: applianceAt(appliance.id, "build"), result: { text: "The rebuild has started." } };
        },
      }),
    )
    .post(`${rebuildsRoute}/cancel`, (c) =>
      submit(c, {
        again,
        act: async () => {
          const { db, account, appliance } = c.var;
          await cancelRebuildOf({ env: c.env, db }, account.id, pathId(c, "build", "invalid_build_id"));
          return { to: applianceAt(appliance.id, "build"), result: { text: "The rebuild is cancelled." } };
        },
      }),
    );
