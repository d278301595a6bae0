import { z } from "zod";
import { startBuild } from "#domain/builds/build";
import { Refusal } from "#domain/refusal";
import { deselect, select } from "#domain/software/software";
import { factory } from "../../factory.ts";
import { placeToGoOn } from "../../session.ts";
import { submit } from "../../submit.ts";
import { formats } from "./formats.ts";
import { showOverview } from "./overview.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "./with-appliance.ts";

const Builds = z.object({ version: z.string().optional(), force: z.string().optional() });

const Fix = z.object({ do: z.enum(["install", "remove"]), package: z.string({ error: "Name the package." }).max(255) });

/** What the head of every page of an appliance can do. */
export const applianceActions = factory
  .createApp()
  .use(`${applianceRoute}/builds`, ...withOwnAppliance)
  .use(`${applianceRoute}/fix`, ...withOwnAppliance)
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
  )
  .post(`${applianceRoute}/fix`, (c) =>
    submit(c, {
      fields: Fix,
      rate: "software",
      again: showOverview,
      act: async ({ do: what, package: name }) => {
        const { db, appliance } = c.var;
        const change = what === "install" ? select : deselect;
        await change({ env: c.env, db }, appliance, { kind: "package", name });
        const text = what === "install" ? `${name} is added.` : `${name} is removed.`;
        const fields = { do: what === "install" ? "remove" : "install", package: name };
        const undo = { action: applianceAt(appliance.id, "fix"), fields };
        return { to: placeToGoOn(c.var.baseUrl, c.req.header("referer")), result: { text, undo } };
      },
    }),
  );

/** Another format of the same form: if it cannot be built now, the one that has started stays. */
async function startOther(imageType: string, start: () => Promise<unknown>): Promise<string> {
  try {
    await start();
    return `The build of ${imageType} has started.`;
  } catch (error) {
    if (error instanceof Refusal) return `${imageType}: ${error.message}`;
    throw error;
  }
}
