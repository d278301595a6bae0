import type { Context } from "hono";
import { z } from "zod";
import { id } from "#http/params";
import { Refusal } from "#domain/refusal";
import { factory, type WebEnv } from "../../factory.ts";
import { Content } from "../../parts/column.tsx";
import { appliancePage } from "./appliance-page.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "./with-appliance.ts";
import { compare } from "../compared.ts";
import { DifferenceView, titleOf } from "../difference-view.tsx";

const route = `${applianceRoute}/difference`;
const Ids = z.object({ from: id("invalid_build_id"), to: id("invalid_build_id") });

/** The differences between two builds. The build page's form sends both ids, and this page's address contains them. */
export const differencePage = factory
  .createApp()
  .use(`${route}/*`, ...withOwnAppliance)
  .get(route, (c) => {
    const { success, data } = Ids.safeParse(c.req.query());
    if (!success) throw new Refusal("invalid_build_id", { message: "Choose two builds." });
    return c.redirect(applianceAt(c.var.appliance.id, `difference/${data.from}/${data.to}`));
  })
  .get(`${route}/:from{\\d+}/:to{\\d+}`, (c) => showDifference(c));

async function showDifference(c: Context<WebEnv>): Promise<Response> {
  const ids = Ids.parse(c.req.param());
  const compared = await compare(c, ids);
  const content = (
    <Content look="stack">
      <h2 class="as-h1">{titleOf(compared)}</h2>
      <DifferenceView compared={compared} />
    </Content>
  );
  return await appliancePage(c, content, { tab: "build", title: "Difference" });
}
