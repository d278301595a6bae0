import type { Context } from "hono";
import { z } from "zod";
import { stateVex, withdrawVex } from "#domain/advisories/statements";
import { pathId } from "#http/params";
import { auditedPage } from "../../../audited.ts";
import { factory, type WebEnv } from "../../../factory.ts";
import { submit } from "../../../submit.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const vexRoute = `${applianceRoute}/builds/:build{\\d+}/vex`;

const Statement = z.object({
  do: z.enum(["state", "withdraw"]),
  advisory: z.string({ error: "Choose an advisory." }),
  reason: z.string().optional(),
  text: z.string().optional(),
  scope: z.enum(["image", "appliance"]),
});

/** Makes and withdraws statements about the advisories of an image, or of all images of its appliance. */
export const vexActs = (again: (c: Context<WebEnv>) => Promise<Response>) =>
  factory.createApp().post(vexRoute, (c) =>
    submit(c, {
      fields: Statement,
      rate: "publications",
      again,
      act: async ({ do: what, advisory, scope, reason = "", text }) => {
        const { appliance } = c.var;
        const id = pathId(c, "build", "invalid_build_id");
        const about = { advisory, buildId: scope === "image" ? id : undefined };
        const detail = { appliance_id: appliance.id, advisory };
        if (what === "withdraw")
          await withdrawVex(auditedPage(c, { event: "vex.withdrawn", detail }), appliance, about);
        else {
          const isOpen = reason === "under_investigation";
          const said = isOpen ? { status: reason } : { status: "not_affected", justification: reason };
          await stateVex(auditedPage(c, { event: "vex.stated", detail }), appliance, { ...about, ...said, text });
        }
        const done = what === "withdraw" ? "withdrawn" : "stored, and part of the VEX document from now on";
        return {
          to: `${applianceAt(appliance.id, "build")}?updates=${id}#updates-${id}`,
          result: { text: `The statement about ${advisory} is ${done}.` },
        };
      },
    }),
  );
