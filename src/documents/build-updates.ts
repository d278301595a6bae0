import type { BuildUpdates } from "#domain/updates/of-build";
import { arrayOf, bool, fields, id, inside, int, oneOf, text, time, version } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** The element `updates` (docs/updates.md): a Kiln extension. */
const update = fields({
  name: text("name", "apache2"),
  arch: text("arch", "amd64"),
  installed: text("installed", "2.4.62-1~deb12u2"),
  available: text("available", "2.4.65-1~deb12u1"),
  security: bool("isSecurity", true),
  repository_id: id(({ repository }: BuildUpdates["updates"][number]) => repository.id, 12),
  repository: text(({ repository }: BuildUpdates["updates"][number]) => repository.name, "Debian 12, security"),
});

const repository = fields({
  id: id("id", 12),
  name: text("name", "Debian 12, security"),
  state: oneOf("knowledge", ["current", "stale", "unknown"]),
  checked_at: time("checkedAt", "2026-03-04T16:25:01Z").optional(),
});

const automaticBuild = fields({
  state: oneOf("state", ["building", "done", "failed", "refused"]),
  from_version: version("from", "0.0.2").optional(),
  version: version("version", "0.0.3").optional(),
  message: text("message", "Built again with apache2 2.4.65-1~deb12u1. It is in stable."),
  began_at: time("at", "2026-03-04T16:30:00Z"),
});

export const buildUpdates = document(
  "BuildUpdates",
  "updates",
  fields({
    build_id: id(({ build }: BuildUpdates) => build.id, 31),
    appliance_id: id(({ build }: BuildUpdates) => build.applianceId, 1004),
    version: version(({ build }: BuildUpdates) => build.version, "0.0.2"),
    newer: int(({ updates }: BuildUpdates) => updates.length, 1),
    security: int("securityCount", 1),
    unlisted: int("unlisted", 0),
    looked_at: time("lookedAt", "2026-03-04T16:30:00Z"),
    packages: inside("updates", arrayOf("package", update)),
    repositories: inside("repositories", arrayOf("repository", repository)),
    automatic_build: inside("automaticBuild", automaticBuild).optional(),
    automatic_build_waits_until: time("automaticBuildWaitsUntil", "2026-03-07T02:00:00Z").optional(),
  }),
);
