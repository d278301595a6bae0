import { spend, type Rated } from "#domain/accounts/rates";
import { factory } from "#api/factory";

/** The calls that cost much. The download of a file by its url counts where it begins (`addWebFile`). */
export const ratedCalls: Record<string, Rated> = {
  "POST /running_builds": "builds",
  "POST /appliances": "clones",
  "POST /files": "uploads",
  "PUT /files/:id/data": "uploads",
  "POST /rpms": "uploads",
  "PUT /rpms/:id": "uploads",
  "PUT /appliances/:id/configuration/logo": "uploads",
  "POST /appliances/:id/configuration/logo": "uploads",
  "PUT /appliances/:id/configuration/background": "uploads",
  "POST /appliances/:id/configuration/background": "uploads",
  "POST /appliances/:id/gpg_keys": "uploads",
  "POST /repositories": "repositories",
  "PUT /appliances/:id/software": "software",
  "PUT /appliances/:id/repositories": "software",
  "POST /appliances/:id/cmd/add_package": "software",
  "POST /appliances/:id/cmd/add_pattern": "software",
  "POST /appliances/:id/cmd/ban_package": "software",
  "POST /appliances/:id/cmd/add_repository": "software",
  "POST /appliances/:id/cmd/add_user_repository": "software",
  "POST /appliances/:id/cmd/remove_package": "software",
  "DELETE /appliances/:id/cmd/remove_package": "software",
  "POST /appliances/:id/cmd/remove_pattern": "software",
  "DELETE /appliances/:id/cmd/remove_pattern": "software",
  "POST /appliances/:id/cmd/unban_package": "software",
  "DELETE /appliances/:id/cmd/unban_package": "software",
  "POST /appliances/:id/cmd/remove_repository": "software",
  "DELETE /appliances/:id/cmd/remove_repository": "software",
  "POST /gallery/appliances/:id/version/:version": "publications",
  "PUT /gallery/appliances/:id/version/:version": "publications",
  "POST /testdrives": "testdrives",
  "POST /gallery/appliances/:id/testdrive": "testdrives",
  "GET /appliances/:id/image_files": "image_files",
  "GET /testdrives/:id/modified_files": "modified_files",
  "GET /testdrives/:id/modified_files/data": "modified_files",
  "GET /testdrives/:id/modified_files/archive": "modified_files",
  "POST /testdrives/:id/modified_files/keep": "modified_files",
  "GET /builds/:id/difference": "differences",
  "POST /webhooks": "webhooks",
  "POST /webhooks/:id/deliveries/:deliveryId/replay": "webhooks",
};

/** Counts such a call for its account before anything else is done. */
export const rated = factory.createApp();

for (const [call, what] of Object.entries(ratedCalls)) {
  const [method = "", path = ""] = call.split(" ");
  rated.on(method, path, async (c, next) => {
    await spend({ env: c.env, db: c.var.db }, c.var.account.id, what);
    await next();
  });
}
