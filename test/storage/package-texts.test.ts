import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { beginContents } from "#storage/imports";
import { searchTexts } from "#storage/package-texts";
import { savePackages } from "#storage/packages";
import { addRepository } from "#storage/repositories";

const db = openDatabase(env);

const sizes = { epoch: 0, version: "1", release: "1", sizeBytes: 1, installedBytes: 1 };

/** More packages than the first statement of a search reads. Every 7th is a tool by its summary, every 11th by its description. */
const packages = Array.from({ length: 2500 }, (_, nth) => ({
  ...sizes,
  name: `${nth % 5 === 0 ? "tool" : "lib"}-${(nth * 7919) % 2500}`,
  arch: nth % 13 === 0 ? "s390x" : "noarch",
  summary: nth % 7 === 0 ? "A Tool for tests" : "",
  description: nth % 11 === 0 ? "Works like a TOOL." : "",
}));
const others = packages.filter((_, nth) => nth % 100 === 0);

/** Repositories with the names of their imports. */
const repositories: { id: number; importId: string }[] = [];

async function addRepositoryOf(importId: string): Promise<void> {
  const url = `http://mirror.example.org/texts/${repositories.length}`;
  const row = { name: importId, url, type: "rpm-md" as const, importId, baseSystem: "tiny-1.0", arches: [] };
  const added = (await addRepository(db, row)) ?? expect.fail("the repository is not stored");
  repositories.push({ id: added.id, importId });
}

beforeAll(async () => {
  for (const [importId, rows] of [["texts-all", packages] as const, ["texts-others", others] as const]) {
    await beginContents(db, importId, { url: `http://mirror.example.org/${importId}`, revision: "1" });
    await savePackages(db, importId, rows);
    await addRepositoryOf(importId);
  }
  await addRepositoryOf("texts-all");
});

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The packages that a search must find, each as the id of its repository and its name. */
function expected(needle: string, limit: number): string[] {
  const rank = (name: string) => (name === needle ? 0 : name.startsWith(needle) ? 1 : name.includes(needle) ? 2 : 3);
  return repositories
    .flatMap(({ id, importId }) => (importId === "texts-all" ? packages : others).map((one) => ({ ...one, id })))
    .filter(({ arch }) => arch === "noarch")
    .filter(({ name, summary, description }) =>
      [name, summary, description].some((text) => text.toLowerCase().includes(needle)),
    )
    .toSorted((one, two) => rank(one.name) - rank(two.name) || byText(one.name, two.name) || one.id - two.id)
    .slice(0, limit)
    .map(({ id, name }) => `${id} ${name}`);
}

describe("a search in all texts of packages", () => {
  it.each([
    ["tool", 10_000],
    ["tool", 50],
    ["TOOL", 1],
    ["works like", 10_000],
    ["-7", 500],
    ["lib-7", 3],
    ["nothing", 10],
  ])("finds %j in the order of names, at most %i", async (q, limit) => {
    const found = await searchTexts(db, { repositories, arches: ["noarch"], q, limit });
    expect(found.map(({ repositoryId, name }) => `${repositoryId} ${name}`)).toEqual(expected(q.toLowerCase(), limit));
  });

  it("finds nothing in a repository that was never imported", async () => {
    const unread = repositories.map(({ id }) => ({ id, importId: null }));
    expect(await searchTexts(db, { repositories: unread, arches: ["noarch"], q: "tool", limit: 9 })).toEqual([]);
  });
});
