import { stateOfRebuild, rebuildStates } from "#model/rebuild-state";
import type { Rebuilt } from "#lib/attest/rebuild";
import type { Build } from "#storage/builds";
import { arrayOf, bool, digest, fields, id, inside, oneOf, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

type Difference = NonNullable<Rebuilt["differences"]>[number];

const difference = fields({
  path: text("path", "/etc/issue"),
  change: oneOf("change", ["added", "removed", "changed"], "changed"),
  what: text(({ what }: Difference) => what.join(" "), "content").unlessEmpty(),
});

const facts = fields({
  id: id("id", 33),
  build_id: id(({ rebuildOf }: Build) => rebuildOf ?? 0, 31),
  state: oneOf(stateOfRebuild, rebuildStates, "differs"),
  message: text(({ rebuilt, message }: Build) => (rebuilt ? "" : message), "The builder was lost.").unlessEmpty(),
  by_other_agent: bool(({ rebuilt }: Build) => rebuilt?.byOther, true).optional(),
  sha256: digest(
    ({ rebuilt }: Build) => rebuilt?.sha256,
    "9b2f4c1d7e8a60351f2c4b6d8e0a7c9351b2d4f6081a3c5e7f9b1d2c4e6a8b0d",
  ).optional(),
  same_bytes: bool(({ rebuilt }: Build) => rebuilt && (rebuilt.sameBytes ?? rebuilt.isSame), false).optional(),
  differences: inside(({ rebuilt }: Build) => rebuilt?.differences ?? [], arrayOf("difference", difference)),
  more_differences: bool(({ rebuilt }: Build) => rebuilt?.hasMore, false).optional(),
  created_at: time("createdAt", "2026-03-05T09:00:00Z"),
  ended_at: time("completedAt", "2026-03-05T09:04:31Z").optional(),
});

export const rebuild = document("Rebuild", "rebuild", facts);
export const rebuilds = document("Rebuilds", "rebuilds", arrayOf("rebuild", facts));
