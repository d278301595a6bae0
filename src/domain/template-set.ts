import type { Catalogue } from "#domain/catalogue";
import { Refusal } from "#domain/refusal";
import { waitForImport } from "#domain/repository";
import { requestImportsAnew } from "#domain/repository-import";
import { findForeignTemplates, saveCatalogue } from "#storage/catalogues";
import type { Database } from "#storage/db";
import { listByCatalogue } from "#storage/repositories";

/** How long the operator waits for the repositories of a catalogue. */
const importsWaitMs = 60_000;

/**
 * Loads a catalogue, has its repositories imported, and answers its number of templates. Refuses what would take over
 * another catalogue's ids. A repository that cannot be imported yet does not keep the catalogue out: its row says why.
 */
export async function loadCatalogue(env: Env, db: Database, catalogue: Catalogue): Promise<number> {
  const templates = catalogue.sets.flatMap(({ templates }) => templates);
  const ids = templates.map(({ applianceId }) => applianceId);
  refuseTwice(ids, "template id");
  const keys = new Set(catalogue.repositories.map(({ key }) => key));
  const unknown = templates.flatMap(({ repositories }) => repositories).find((key) => !keys.has(key));
  if (unknown) throw new Refusal("invalid_value", { message: `A template names the unknown repository ${unknown}.` });
  const foreign = await findForeignTemplates(db, catalogue.name, ids);
  if (foreign.length > 0) {
    throw new Refusal("invalid_value", { message: `Template id ${foreign.join(", ")} belongs to another catalogue.` });
  }
  await saveCatalogue(db, catalogue);
  await importCatalogue(env, db, catalogue.name);
  return templates.length;
}

async function importCatalogue(env: Env, db: Database, name: string): Promise<void> {
  const ids = (await listByCatalogue(db, name)).map(({ id }) => id);
  await requestImportsAnew(env, db, ids);
  await Promise.all(ids.map((id) => waitForImport(db, id, importsWaitMs)));
}

function refuseTwice(values: number[], what: string): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) throw new Refusal("invalid_value", { message: `The ${what} ${twice} stands there twice.` });
}
