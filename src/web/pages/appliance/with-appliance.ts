import { idIn, pathId } from "#http/params";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { factory } from "../../factory.ts";
import { personOf, withSession } from "../../session.ts";

export const applianceRoute = "/appliance/:id{\\d+}";
export const applianceAt = (id: number, tab = ""): string => `/appliance/${id}${tab === "" ? "" : `/${tab}`}`;

/** Reads one's own appliance with the session, in one round trip. */
const withFound = (find: typeof getAppliance) =>
  [
    factory.createMiddleware(async (c, next) => {
      await personOf(c, idIn(c, "id"));
      await next();
    }),
    withSession,
    factory.createMiddleware(async (c, next) => {
      const id = pathId(c, "id", "invalid_appliance_id");
      c.set("appliance", c.var.person?.appliance ?? (await find(c.var.db, c.var.account.id, id)));
      await next();
    }),
  ] as const;

/** Guards a page of an appliance that this person may read. For others, the page does not exist. */
export const withAppliance = withFound(getAppliance);

/** Guards a page that changes the appliance, so it must be the person's own. */
export const withOwnAppliance = withFound(getOwnAppliance);
