import { contentKey } from "#storage/blobs";
import { announced, type Check } from "./check.ts";
import type { World } from "./world.ts";

interface Row {
  id: number;
  uuid: string;
  appliance_id: number;
  is_logged: number;
  formats: string;
}

const rows = ({ service }: World): Row[] =>
  service.database.query("SELECT id, uuid, appliance_id, is_logged, formats FROM publications") as unknown as Row[];

const imagesOf = ({ formats }: Row) => (JSON.parse(formats) as { buildId: number }[]).map(({ buildId }) => buildId);

export const publicationChecks: readonly Check[] = [
  {
    name: "an accepted publication is in the gallery",
    when: "step",
    violations: (world) => {
      const { accepted, withdrawn, faults } = world.users.publishers;
      if (accepted.size === 0) return faults;
      const all = rows(world);
      const listed = new Set(
        world.service.database.query("SELECT appliance_id AS id FROM gallery_listings").map(({ id }) => Number(id)),
      );
      const missing = [...accepted].filter((uuid) => withdrawn.size === 0 && !all.some((row) => row.uuid === uuid));
      const unlisted = all
        .filter((row) => !listed.has(row.appliance_id))
        .map(({ id }) => `publication ${id} is in no list`);
      return [...faults, ...missing, ...unlisted];
    },
  },
  {
    name: "a publication has images, and every blob that it names",
    when: "a day later",
    violations: (world) => {
      const { database, bucket } = world.service;
      const keys = new Map(
        database.query("SELECT id, image_key FROM builds").map((row) => [Number(row["id"]), String(row["image_key"])]),
      );
      const files = database
        .query("SELECT blob_id FROM published_files")
        .map((row) => contentKey(String(row["blob_id"])));
      const images = rows(world).flatMap((row) => {
        const ofRow = imagesOf(row).map((id) => keys.get(id) ?? `build ${id}`);
        return ofRow.length > 0 ? ofRow : [`publication ${row.id}`];
      });
      return [...files, ...images].filter((key) => !bucket.stored.has(key));
    },
  },
  {
    name: "every publication is announced once",
    when: "end",
    violations: (world) => {
      const told = announced(world, "version").map((subject) => subject.appliance_id);
      if (world.users.publishers.withdrawn.size > 0) return [];
      return rows(world).flatMap((row) => {
        const times = told.filter((id) => id === row.appliance_id).length;
        return times === 1 ? [] : [`publication ${row.id}: ${times} times`];
      });
    },
  },
  {
    name: "every published image is in the public log once",
    when: "end",
    violations: (world) => {
      const { database, objects } = world.service;
      const positions = new Map(
        database.query("SELECT id, log_position FROM builds").map((row) => [Number(row["id"]), row["log_position"]]),
      );
      const published = new Set(rows(world).flatMap(imagesOf));
      const missing = [...published].filter((id) => (positions.get(id) ?? null) === null).map((id) => `build ${id}`);
      const unlogged = rows(world)
        .filter((row) => row.is_logged === 0)
        .map(({ id }) => `publication ${id}`);
      const taken = [...positions.values()].filter((position) => position !== null);
      const entries = objects.IMAGE_LOG.existing.get("log")?.storage.read("SELECT position FROM entries") ?? [];
      const isDoubled = new Set(taken).size < taken.length || entries.length > taken.length;
      return [...missing, ...unlogged, ...(isDoubled ? [`${entries.length} entries for ${taken.length} images`] : [])];
    },
  },
];
