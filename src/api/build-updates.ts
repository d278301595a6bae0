import { buildUpdates } from "#documents/build-updates";
import { getBuild } from "#domain/builds/build";
import { updatesOf } from "#domain/updates/of-build";
import { call } from "#api/call";
import { v2 } from "#api/operation";

/** The outdated packages of an image: a Kiln extension. */
export const listUpdates = call("GET /builds/{build_id}/updates", {
  name: "listUpdates",
  access: "readable",
  rate: "reads",
  versions: v2,
  summary: "The packages of an image that the appliance's repositories have in a newer version now",
  details:
    "newer counts them, and security those with a newer version in a security repository. unlisted counts packages that are in " +
    "none of the appliance's repositories now. If a repository's state is unknown, Kiln cannot compare its " +
    "packages; if it is stale, its last refresh failed. " +
    "automatic_build is the last one that the service has made or refused for the appliance (automatic_builds).",
  ids: { build_id: "invalid_build_id" },
  answer: buildUpdates,
  refuses: ["build_not_found"],
  act: async ({ env, db, account, access }, { build_id }) =>
    await updatesOf({ env, db }, await getBuild(db, { account, access }, build_id)),
});
