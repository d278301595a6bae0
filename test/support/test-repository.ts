import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { importIdOfKey } from "#storage/blobs";
import { searchPackages } from "#storage/packages";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "./client.ts";
import { mirrorOf, type RepositoryFiles } from "./mirror.ts";

const db = openDatabase(env);

type ImportOptions = Parameters<typeof importRepository>[2];

export type TestRepository = Awaited<ReturnType<typeof newRepository>>;

/** A repository with its own URL, because repositories with the same URL share packages. */
export async function newRepository() {
  const { accountId } = await signedIn();
  const url = `http://mirror.example.org/${accountId}`;
  const fields = { accountId, name: "Linux", url, baseSystem: "other", arches: [] };
  const { id } =
    (await addRepository(db, { ...fields, type: "rpm-md" })) ?? expect.fail("the repository is not stored");
  return {
    id,
    url,
    importFrom: (options: ImportOptions) => importRepository({ env, db }, id, options),
    importFiles: (files: RepositoryFiles) => importRepository({ env, db }, id, mirrorOf({ [url]: files })),
    row: async () => (await findRepository(db, id)) ?? expect.fail("the repository is gone"),
    names: () => packageNames(id),
    leftovers: () => leftoversOf(id, url),
  };
}

async function packageNames(repositoryId: number): Promise<string[]> {
  const found = await searchPackages(db, {
    arches: ["noarch", "x86_64", "i586"],
    repositories: [await shown(repositoryId)],
    q: "-",
    limit: 100,
  });
  return found.map(({ name }) => name).toSorted();
}

/** Counts everything that an import could leave behind: imports with files, and rows. */
async function leftoversOf(repositoryId: number, url: string) {
  const { objects } = await env.BLOBS.list({ prefix: `solv/${repositoryId}/` });
  const { packages: rows } = await storedOf(url);
  return { imports: new Set(objects.map(({ key }) => importIdOfKey(key))).size, rows };
}

/** A repository as searches need it. */
export const shown = async (id: number) =>
  (await findRepository(openDatabase(env), id)) ?? expect.fail("the repository is gone");

/** How many imports of a URL are stored, and how many packages these have. */
export async function storedOf(url: string): Promise<{ imports: number; packages: number }> {
  const { results } = await env.DB.prepare("SELECT id FROM imports WHERE url = ?").bind(url).all<{ id: string }>();
  const packages = await env.PACKAGES.prepare(
    "SELECT count(*) AS n FROM packages WHERE import_id IN (SELECT value FROM json_each(?))",
  )
    .bind(JSON.stringify(results.map(({ id }) => id)))
    .first<number>("n");
  return { imports: results.length, packages: packages ?? 0 };
}
