import type { Affected } from "#domain/advisories/affected";
import type { BuildAdvisories } from "#domain/advisories/of-build";
import { stated } from "#documents/vex-statements";
import { advisoryFeeds, affectedStates } from "#model/advisory";
import * as leaves from "#lib/wire/leaf";
import {
  arrayOf,
  bool,
  fields,
  id,
  inside,
  int,
  oneOf,
  plainListOf,
  text,
  through,
  time,
  version,
} from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** The number of advisories in each state, and of those that an update fixes and that are known to be exploited. */
export const advisoryCounts = {
  fixed: int("fixed", 1),
  open: int("open", 0),
  undetermined: int("undetermined", 0),
  unimportant: int("unimportant", 0),
  exploited: int("exploited", 0),
};

const advisory = fields({
  id: text("id", "CVE-2026-1234"),
  aliases: inside("aliases", plainListOf("alias", leaves.text("DSA-6001-1"))).unlessEmpty(),
  state: oneOf("state", affectedStates, "fixed"),
  source: text("source", "openssl"),
  installed: text("installed", "3.0.15-1~deb12u1"),
  fixed: text("fixed", "3.0.17-1~deb12u3").optional(),
  urgency: text(({ urgency }: Affected) => urgency ?? "", "not yet assigned").unlessEmpty(),
  exploited: bool("isExploited", false),
  packages: inside("packages", plainListOf("package", leaves.text("libssl3"))),
  statement: inside("statement", fields(stated)).optional(),
});

const feed = fields({
  name: oneOf("feed", advisoryFeeds, "debian"),
  origin: text(({ origin }: BuildAdvisories["feeds"][number]) => origin ?? "", "data/json").unlessEmpty(),
  read_at: time("readAt", "2026-03-04T06:00:00Z").optional(),
  problem: text("problem", "").unlessEmpty(),
});

/** The element `advisories` (docs/advisories.md): a Kiln extension. */
export const buildAdvisories = document(
  "BuildAdvisories",
  "build_advisories",
  fields({
    build_id: id(({ build }: BuildAdvisories) => build.id, 31),
    appliance_id: id(({ build }: BuildAdvisories) => build.applianceId, 1004),
    version: version(({ build }: BuildAdvisories) => build.version, "0.0.2"),
    known: bool("isKnown", true),
    ...through("counts", advisoryCounts),
    advisories: inside("advisories", arrayOf("advisory", advisory)),
    feeds: inside("feeds", arrayOf("feed", feed)),
  }),
);
