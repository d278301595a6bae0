import { createHash } from "node:crypto";
import { contentKey, contentsPrefix, tailsPrefix } from "#storage/blobs";
import type { Check } from "./check.ts";
import type { World } from "./world.ts";

const query = ({ service }: World, sql: string) => service.database.query(sql);

/** Digests of the bucket's contents. An object is never changed, only replaced. */
const digests = new WeakMap<object, string>();

function storedSha256({ service }: World, key: string): string | undefined {
  const object = service.bucket.stored.get(key);
  if (!object) return undefined;
  const known = digests.get(object) ?? createHash("sha256").update(object.bytes).digest("hex");
  digests.set(object, known);
  return known;
}

export const uploadChecks: readonly Check[] = [
  {
    name: "an upload keeps what it has acknowledged",
    when: "step",
    violations: ({ users }) => users.uploaders.faults,
  },
  {
    name: "an uploaded file is stored with its bytes",
    when: "step",
    violations: (world) => {
      const { stored } = world.users.uploaders;
      if (stored.size === 0) return [];
      const rows = query(world, "SELECT id, blob_id, sha256 FROM overlay_files");
      const blobs = new Map(rows.map((row) => [Number(row["id"]), String(row["blob_id"])]));
      return [...stored].flatMap(([id, sha256]) => {
        const blob = blobs.get(id);
        return blob !== undefined && storedSha256(world, contentKey(blob)) === sha256 ? [] : [`overlay file ${id}`];
      });
    },
  },
  {
    name: "an uploaded file is added once",
    when: "end",
    violations: (world) =>
      query(world, "SELECT blob_id FROM overlay_files GROUP BY blob_id HAVING count(*) > 1").map(({ blob_id: id }) =>
        String(id),
      ),
  },
  {
    name: "every upload ends that its client continues",
    when: "end",
    violations: ({ users }) => [...users.uploaders.open].map((id) => `upload ${id}`),
  },
  {
    name: "nothing of an upload is left after a day",
    when: "a day later",
    violations: (world) => {
      const named = new Set(
        query(world, "SELECT blob_id FROM overlay_files UNION SELECT blob_id FROM published_files").map((row) =>
          contentKey(String(row["blob_id"])),
        ),
      );
      const isStray = (key: string) =>
        key.startsWith(tailsPrefix) || (key.startsWith(contentsPrefix) && !named.has(key));
      const rows = query(
        world,
        "SELECT 'upload ' || id AS what FROM resumable_uploads UNION SELECT 'room for ' || blob_id FROM reservations",
      );
      const { stored, begun } = world.service.bucket;
      const parts = [...begun.values()].filter((upload) => upload.parts.size > 0).map(({ key }) => `parts of ${key}`);
      return [...[...stored.keys()].filter(isStray), ...parts, ...rows.map(({ what }) => String(what))];
    },
  },
];
