import { listFailures, listQueue } from "#domain/service-overview";
import type { NamedBuild } from "#storage/build-queue";
import { factory } from "#admin-api/factory";

/** Waiting builds, and failed ones. */
export const queue = factory
  .createApp()
  .get("/", async (c) => {
    const waiting = await listQueue({ env: c.env, db: c.var.db });
    return c.json({ builds: waiting.map((build) => ({ ...shown(build), why: build.why })) });
  })
  .get("/failures", async (c) => {
    const failures = await listFailures(c.var.db);
    return c.json({ builds: failures.map((build) => ({ ...shown(build), reason: build.message })) });
  });

const shown = ({ id, name, version, imageType, username, status, createdAt, completedAt }: NamedBuild) => ({
  id,
  name,
  version,
  imageType,
  username,
  status,
  createdAt,
  completedAt,
});
