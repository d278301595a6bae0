import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { importIdOfKey } from "#storage/blobs";
import { searchPackages } from "#storage/packages";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "./client.ts";
import { mirrorOf, type RepositoryFiles } from "./mirror.ts";

const db = openDatabase(env.DB);

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
    repositoryIds: [repositoryId],
    q: "-",
    limit: 100,
  });
  return found.map(({ name }) => name).toSorted();
}

/** Counts everything that an import could leave behind: imports with files, and rows. */
async function leftoversOf(repositoryId: number, url: string) {
  const { objects } = await env.BLOBS.list({ prefix: `solv/${repositoryId}/` });
  const rows = await env.DB.prepare(
    "SELECT count(*) AS n FROM packages JOIN imports ON imports.id = import_id WHERE url = ?",
  )
    .bind(url)
    .first("n");
  return { imports: new Set(objects.map(({ key }) => importIdOfKey(key))).size, rows };
}
