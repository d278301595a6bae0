import { z } from "zod";
import { cancelAnyBuild } from "#domain/builds/build";
import { buildAgain } from "#domain/builds/start";
import { listAtWork, listFailures, listQueue } from "#domain/service-overview";
import type { NamedBuild } from "#storage/build-queue";
import { factory } from "#admin-api/factory";

const Id = z.coerce.number("Give the id of a build.").int().positive();

/** Builds that are queued, running or failed. */
export const queue = factory
  .createApp()
  .get("/", async (c) => {
    const waiting = await listQueue({ env: c.env, db: c.var.db });
    return c.json({ builds: waiting.map((build) => ({ ...shown(build), why: build.why })) });
  })
  .get("/running", async (c) => c.json({ builds: (await listAtWork(c.var.db)).map(shown) }))
  .delete("/:id", async (c) => {
    const id = Id.parse(c.req.param("id"));
    await cancelAnyBuild({ env: c.env, db: c.var.db }, id);
    return c.json({ cancelled: id });
  })
  .post("/failures/:id/again", async (c) => {
    const build = await buildAgain({ env: c.env, db: c.var.db }, Id.parse(c.req.param("id")), c.var.baseUrl);
    return c.json({ id: build.id, state: build.state });
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
