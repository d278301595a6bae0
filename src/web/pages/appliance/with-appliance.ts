import { pathId } from "#api/params";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { factory } from "../../factory.ts";
import { withSession } from "../../session.ts";

export const applianceRoute = "/appliance/:id{\\d+}";
export const applianceAt = (id: number, tab = ""): string => `/appliance/${id}${tab === "" ? "" : `/${tab}`}`;

/** A page of an appliance that this person may read. Anyone else's does not exist. */
export const withAppliance = [
  withSession,
  factory.createMiddleware(async (c, next) => {
    const id = pathId(c, "id", "invalid_appliance_id");
    c.set("appliance", await getAppliance(c.var.db, c.var.account.id, id));
    await next();
  }),
] as const;

/** A page that changes the appliance: it is the person's own. */
export const withOwnAppliance = [
  withSession,
  factory.createMiddleware(async (c, next) => {
    const id = pathId(c, "id", "invalid_appliance_id");
    c.set("appliance", await getOwnAppliance(c.var.db, c.var.account.id, id));
    await next();
  }),
] as const;
