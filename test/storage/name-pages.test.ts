import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { beginContents } from "#storage/imports";
import { saveNamePages } from "#storage/name-pages";
import { deletePackages, savePackages, searchNames, searchPackages } from "#storage/packages";
import type { ShownImport } from "#storage/package-sql";
import { addRepository } from "#storage/repositories";
import { namePages } from "#storage/schema/packages";

const db = openDatabase(env);

/** Every name of up to three of a few letters, and longer names around them. */
const letters = ["a", "b", "L", "l", "-", "é"];
const pairs = letters.flatMap((one) => letters.map((other) => one + other));
const names = [
  ...letters,
  ...pairs,
  ...pairs.flatMap((pair) => [`lib${pair}`, `${pair}-devel`, `x${pair}x`, `Z${pair.toUpperCase()}`]),
];

const inSecond = names.filter((_name, nth) => nth % 3 === 0);

const row = { epoch: 0, version: "1", release: "1", summary: "", description: "", sizeBytes: 1, installedBytes: 1 };
const repositories: ShownImport[] = [];

async function addImport(importId: string, shown: readonly string[], arch: string): Promise<void> {
  const fields = { name: importId, url: `http://mirror.example.org/${importId}`, type: "rpm-md" as const };
  const added = await addRepository(db, { ...fields, importId, baseSystem: "tiny-1.0", arches: [] });
  repositories.push(added ?? expect.fail("the repository is not stored"));
  await beginContents(db, importId, { url: fields.url, revision: "1" });
  await savePackages(
    db,
    importId,
    shown.map((name) => ({ ...row, name, arch })),
  );
  await saveNamePages(db, importId);
}

beforeAll(async () => {
  await addImport("first", names, "noarch");
  await addImport("second", inSecond, "x86_64");
  await addImport("foreign", names, "s390x");
});

/** Converts letters to lower case, like SQLite's lower(). */
const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const rank = (name: string, needle: string) => (lower(name) === needle ? 0 : lower(name).startsWith(needle) ? 1 : 2);
const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** The query of a search that reads every name. */
function expected(needle: string, limit: number): string[] {
  const found = [...names, ...inSecond].filter((name) => lower(name).includes(needle));
  const order = (one: string, other: string) => rank(one, needle) - rank(other, needle) || compare(one, other);
  return found.toSorted(order).slice(0, limit);
}

it.each([3, 10, 40, 1000])("finds the first %i names for each text of one or two characters", async (limit) => {
  for (const q of [...letters, ...pairs, "zz"].map((text) => text.toLowerCase())) {
    const arches = ["noarch", "x86_64"];
    const found = await searchPackages(db, { repositories, arches, q, limit });
    expect(
      found.map(({ name }) => name),
      `${q}, ${limit}`,
    ).toEqual(expected(q, limit));
  }
});

it.each([3, 40, 1000])("finds the first %i names of each repository for a text", async (limit) => {
  const [first = expect.fail(), second = expect.fail()] = repositories;
  const longer = ["lib", "liba", "a-d", "-devel", "a-devel", "xabx", "zll", "zzz"];
  for (const q of [...letters, ...pairs, "zz", "", ...longer].map((text) => text.toLowerCase())) {
    const found = await searchNames(db, { repositories: [first, second], q, limit });
    for (const [{ id }, all] of [
      [first, names],
      [second, inSecond],
    ] as const) {
      const holding = new Set(all.map(lower).filter((name) => name.includes(q)));
      const listed = found.get(id) ?? [];
      expect(listed, `${q}, ${limit}`).toHaveLength(Math.min(limit, holding.size));
      expect([...holding], q).toEqual(expect.arrayContaining(listed));
      expect(listed, q).toEqual(listed.toSorted((one, other) => rank(one, q) - rank(other, q) || compare(one, other)));
      const beginning = [...holding].filter((name) => name.startsWith(q));
      expect(listed.filter((name) => name.startsWith(q))).toHaveLength(Math.min(limit, beginning.length));
    }
  }
});

it("finds a package by a text that is longer than D1's patterns", async () => {
  const name = `lib${"é".repeat(30)}-devel`;
  await addImport("long", [name, `lib${"é".repeat(29)}`], "noarch");
  const found = await searchPackages(db, { repositories, arches: ["noarch"], q: name, limit: 9 });
  expect(found.map((one) => one.name)).toEqual([name]);
});

it("removes the pages with the packages", async () => {
  const pages = () => db.packages.query.namePages.findMany({ where: eq(namePages.importId, "second") });
  expect(await pages()).not.toEqual([]);
  await deletePackages(db, "second");
  expect(await pages()).toEqual([]);
});

it("has the same pages for many names, which take several statements", async () => {
  const many = Array.from({ length: 5000 }, (_, nth) => `name-${nth % 2 === 0 ? nth : `Ä${nth}`}`);
  await addImport("many", many, "noarch");
  const sorted = many.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const pages = await db.packages.query.namePages.findMany({
    where: eq(namePages.importId, "many"),
    orderBy: namePages.first,
  });
  expect(pages.flatMap((page) => page.names.split("\n"))).toEqual(sorted.map(lower));
  expect(pages).toHaveLength(Math.ceil(sorted.length / 32));
  expect(pages.map(({ last }) => last)).toEqual([...sorted.filter((_, nth) => nth % 32 === 31), sorted.at(-1)]);
});
