import { buildAdvisories } from "#documents/build-advisories";
import { advisoriesOfBuild } from "#domain/advisories/of-build";
import { getBuild } from "#domain/builds/build";
import { call } from "#api/call";
import { v2 } from "#api/operation";

/** The advisories that concern an image: a Kiln extension. */
export const listAdvisories = call("GET /builds/{build_id}/advisories", {
  name: "listAdvisories",
  access: "readable",
  rate: "reads",
  versions: v2,
  summary: "The security advisories that concern the packages of an image",
  details:
    "fixed: an update fixes it. open: there is no fix yet. undetermined: the distribution does not know yet. unimportant: it says that " +
    "it does no harm. Versions are those of source packages. known is false if no feed of the service has the base system. feeds says " +
    "which ones it has read, and when.",
  ids: { build_id: "invalid_build_id" },
  answer: buildAdvisories,
  refuses: ["build_not_found"],
  act: async ({ env, db, account, access }, { build_id }) =>
    await advisoriesOfBuild({ env, db }, await getBuild(db, { account, access }, build_id)),
});
