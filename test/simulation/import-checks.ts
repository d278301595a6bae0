import { downloadsPrefix, importIdOfKey, solvPrefix } from "#storage/blobs";
import { lasting, type Check } from "./check.ts";
import type { World } from "./world.ts";

interface Row {
  id: number;
  url: string;
  import_id: string | null;
  import_state: string;
  problem: string | null;
  parts: string | null;
}

const rows = ({ service }: World): Row[] =>
  service.database.query(
    "SELECT id, url, import_id, import_state, problem, parts FROM repositories",
  ) as unknown as Row[];

interface Turn {
  repository_id: number;
  account_id: number;
  patience: string;
  sent_at: number | null;
  tries: number;
}

const turns = ({ service }: World): Turn[] => service.database.query("SELECT * FROM import_turns") as unknown as Turn[];

/**
 * The longest time that an import from a fast mirror takes if nothing fails. Other imports of its account may come
 * first.
 */
const longestMs = 90_000;

/** The newest revision that each repository has shown, by world. */
const shown = new WeakMap<World, Map<number, number>>();

/** The number of the revision with these packages, or the reason why there is none. */
function revisionOf(world: World, { url, import_id: id, parts }: Row): number | string {
  const found = world.service.database.query(
    `SELECT count(*) AS count, min(version) AS oldest, max(version) AS newest FROM packages WHERE import_id = '${id}'`,
  );
  const [{ count, oldest, newest } = {}] = found;
  const revision = Number(newest);
  const expected = world.users.importers.mirrors.of(url)?.counts[revision - 1];
  if (oldest !== newest || Number(count) !== expected) return `${count} packages from ${oldest} to ${newest}`;
  const missing = (JSON.parse(parts ?? "[]") as string[]).find((key) => !world.service.bucket.stored.has(key));
  return missing === undefined ? revision : `${missing} is missing`;
}

/** Contents that were correct, by world. They do not change. */
const verified = new WeakMap<World, Set<string>>();

function brokenContents(world: World): string[] {
  const known = verified.get(world) ?? new Set<string>();
  const newest = shown.get(world) ?? new Map<number, number>();
  verified.set(world, known);
  shown.set(world, newest);
  return rows(world).flatMap((row) => {
    const name = `${row.id} ${row.import_id}`;
    if (row.import_id === null || known.has(name)) return [];
    known.add(name);
    const revision = revisionOf(world, row);
    if (typeof revision === "string") return [`repository ${row.id}: ${revision}`];
    const before = newest.get(row.id) ?? 0;
    newest.set(row.id, revision);
    return revision < before ? [`repository ${row.id} shows revision ${revision} after ${before}`] : [];
  });
}

export const importChecks: readonly Check[] = [
  {
    name: "a repository shows one revision of its mirror, and never an older one",
    when: "step",
    violations: brokenContents,
  },
  {
    name: "an account has one import at a time in each queue",
    when: "step",
    violations: (world) => {
      const sent = turns(world).flatMap(({ account_id: account, patience, sent_at: at }) =>
        at === null ? [] : [`account ${account}, ${patience}`],
      );
      return sent.filter((one, nth) => sent.indexOf(one) !== nth);
    },
  },
  {
    name: "if nothing fails, an import has one try in each queue",
    when: "step",
    violations: (world) =>
      world.isCalm
        ? turns(world)
            .filter(({ tries }) => tries > 1)
            .map(({ repository_id: id, tries }) => `repository ${id} is tried ${tries} times`)
        : [],
  },
  {
    name: "if nothing fails, an import from a quick mirror ends soon",
    when: "step",
    violations: (world) => {
      const { mirrors } = world.users.importers;
      const waiting = () =>
        rows(world)
          .filter(({ url, import_state: state }) => state === "importing" && mirrors.of(url)?.kind === "quick")
          .map(({ id }) => `repository ${id}`);
      return world.isCalm ? lasting(world, "imports", longestMs, waiting) : [];
    },
  },
  {
    name: "every import ends",
    when: "end",
    violations: (world) => [
      ...rows(world)
        .filter(({ import_state: state }) => state === "importing")
        .map(({ id }) => `repository ${id} is being imported`),
      ...turns(world).map(({ repository_id: id }) => `repository ${id} waits`),
    ],
  },
  {
    name: "a repository shows what its mirror had when an import was requested",
    when: "end",
    violations: (world) => {
      const newest = shown.get(world);
      return rows(world)
        .filter(({ id, problem }) => problem === null && (newest?.get(id) ?? 0) < world.users.importers.askedFor(id))
        .map(({ id }) => `repository ${id} shows revision ${newest?.get(id)}`);
    },
  },
  {
    name: "a repository that has failed says why",
    when: "end",
    violations: (world) =>
      rows(world)
        .filter(({ import_state: state, problem }) => state === "failed" && !problem)
        .map(({ id }) => `repository ${id}`),
  },
  {
    name: "an imported repository stays",
    when: "a day later",
    violations: (world) => {
      verified.delete(world);
      const usable = rows(world).filter(({ import_id: id }) => id !== null);
      const known = new Set(usable.map(({ id }) => id));
      const gone = [...world.users.importers.ready].filter((id) => !known.has(id));
      return [...gone.map((id) => `repository ${id} is gone`), ...brokenContents(world)];
    },
  },
  {
    name: "nothing is left of imports that no repository shows",
    when: "a day later",
    violations: (world) => {
      const used = new Set(rows(world).map(({ import_id: id }) => id));
      const { database, bucket } = world.service;
      const tables = ["imports", "packages"].flatMap((table) => {
        const column = table === "imports" ? "id" : "import_id";
        return database.query(`SELECT DISTINCT ${column} AS id FROM ${table}`).map(({ id }) => String(id));
      });
      const keys = [...bucket.stored.keys()];
      const solvs = keys.filter((key) => key.startsWith(solvPrefix)).map(importIdOfKey);
      return [
        ...[...tables, ...solvs].filter((id) => !used.has(id)),
        ...keys.filter((key) => key.startsWith(downloadsPrefix)),
      ];
    },
  },
];
