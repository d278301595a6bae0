import type { Context } from "hono";
import { Refusal } from "#domain/refusal";
import { getSharing, share, unshare, type Sharing } from "#domain/appliances/sharing";
import { XmlList } from "#wire/xml";
import { factory, type ApiEnv } from "#api/factory";
import { pathId } from "#api/params";
import { xml } from "#api/respond";
import { v2Only } from "#api/v2-only";

/** With whom an appliance is shared: all three answer the list (wire.md §2.5). */
export const sharing = factory
  .createApp()
  .use("/appliances/:id/sharing", v2Only)
  .use("/appliances/:id/sharing/:username", v2Only)
  .get("/appliances/:id/sharing", async (c) => show(c, await getSharing(c.var.db, c.var.account, applianceId(c))))
  .post("/appliances/:id/sharing/:username", async (c) => {
    const request = { applianceId: applianceId(c), username: usernameIn(c.req.url) };
    return show(c, await share(c.var.db, c.var.account, request));
  })
  .delete("/appliances/:id/sharing/:username", async (c) => {
    const request = { applianceId: applianceId(c), username: usernameIn(c.req.url) };
    return show(c, await unshare(c.var.db, c.var.account, request));
  });

const applianceId = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_appliance_id");

/** A client finds out by `count` whether there is anybody. */
const show = (c: Context<ApiEnv>, { applianceId, usernames }: Sharing): Response =>
  xml(c, "appliance", {
    id: applianceId,
    read_users: new XmlList("username", usernames, { count: usernames.length }),
  });

/** The last segment as it was sent: the Ruby client writes a space as a plus there, too (wire.md §5.2). */
function usernameIn(url: string): string {
  const [, segment = ""] = /\/([^/]+)\/*$/.exec(new URL(url).pathname) ?? [];
  try {
    return decodeURIComponent(segment.replaceAll("+", "%20"));
  } catch {
    throw new Refusal("invalid_username");
  }
}
