import { z } from "zod";
import { startBuild } from "#domain/builds/build";
import { Refusal } from "#domain/refusal";
import { factory } from "../../factory.ts";
import { submit } from "../../submit.ts";
import { formats } from "./formats.ts";
import { showOverview } from "./overview.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "./with-appliance.ts";

const Builds = z.object({ version: z.string().optional(), force: z.string().optional() });

/** Starts the builds that the head of an appliance's pages and its build page ask for. */
export const applianceActions = factory
  .createApp()
  .use(`${applianceRoute}/builds`, ...withOwnAppliance)
  .post(`${applianceRoute}/builds`, (c) =>
    submit(c, {
      fields: Builds,
      rate: "builds",
      again: showOverview,
      act: async ({ version, force }, { all, requestId }) => {
        const { db, account, appliance, baseUrl } = c.var;
        const wanted = all("image_type").slice(0, formats.length);
        const [first = "", ...others] = wanted;
        if (first === "") throw new Refusal("invalid_image_type", { message: "Choose at least one format." });
        const { id: applianceId } = appliance;
        const request = { applianceId, version, force: force === "true", multi: false, baseUrl, allowedTypes: formats };
        await startBuild({ env: c.env, db }, account, { ...request, imageType: first, requestId });
        const more = others.map((imageType) =>
          startOther(imageType, () => startBuild({ env: c.env, db }, account, { ...request, imageType })),
        );
        const text = [`The build of ${first} has started.`, ...(await Promise.all(more))].join(" ");
        return { to: applianceAt(applianceId, "build"), result: { text: text.slice(0, 500) } };
      },
    }),
  );

/** Starts another format of the same form. If it cannot be built now, the first still can. */
async function startOther(imageType: string, start: () => Promise<unknown>): Promise<string> {
  try {
    await start();
    return `The build of ${imageType} has started.`;
  } catch (error) {
    if (error instanceof Refusal) return `${imageType}: ${error.message}`;
    throw error;
  }
}
