import { Hono, type Context } from "hono";
import { challengeAgain, givenCredentials } from "#api/authenticate";
import { isForeign } from "#api/same-origin";
import { runningBuild } from "#documents/running-build";
import { checkKeyOrToken } from "#domain/accounts/account";
import type { WatchedBuild } from "#domain/builds/build";
import { current, imageOfSchematic } from "#domain/schematics/image";
import { xml } from "#http/respond";
import { viewOf } from "#lib/wire/view";
import { findSchematicChannel } from "#storage/schematics";
import { answerChannel, formatOf, redirectTo } from "./channel-addresses.ts";
import type { WebEnv } from "./factory.ts";
import { imageAddress } from "./parts/image-address.ts";

/**
 * The content addresses: `/image/SCHEMATIC/WHEN/FORMAT` leads to the image of a definition, and builds it if there is
 * none. The channel of a published appliance needs no account. Everything else needs Basic credentials; a browser's
 * session does not count. Because a browser also sends credentials that it remembers, a request from a page of another
 * site starts no build.
 */
export const schematicAddresses = new Hono<WebEnv>().get("/:schematic{[0-9a-f]{64}}/:when/:format", async (c) => {
  const { schematic: sha256, when, format } = c.req.param();
  if (when !== current && !/^\d/.test(when)) {
    return await answerChannel(c, await findSchematicChannel(c.var.db, sha256, when), { channel: when, format });
  }
  const given = givenCredentials(c.req.raw, c.env);
  const signedIn = given && (await checkKeyOrToken({ env: c.env, db: c.var.db }, given));
  if (!signedIn) return challengeAgain(c, given);
  const [type, suffix] = formatOf(format);
  const mayStart = !isForeign(c.req.raw.headers, [c.var.baseUrl, c.req.url]);
  const asked = { ...signedIn, sha256, when, format: type, baseUrl: c.var.baseUrl, mayStart };
  const found = await imageOfSchematic({ env: c.env, db: c.var.db }, asked);
  if ("building" in found) return answerBuilding(c, found.building);
  return redirectTo(c, `${imageAddress(found.image)}${suffix}`, "private, no-cache");
});

/** The document of `GET /running_builds`, and when to ask again. */
function answerBuilding(c: Context<WebEnv>, building: WatchedBuild): Response {
  const seconds = Math.min(60, Math.max(5, building.secondsLeft ?? 15));
  c.header("Retry-After", String(seconds));
  c.header("Cache-Control", "no-store");
  const view = viewOf(runningBuild, building, { baseUrl: c.var.baseUrl, version: { name: "v2" } });
  return xml(c, runningBuild.root, view, 202);
}
