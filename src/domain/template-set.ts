import type { Catalogue } from "#domain/catalogue";
import { Refusal } from "#domain/refusal";
import { findForeignTemplates, saveCatalogue } from "#storage/catalogues";
import type { Database } from "#storage/db";

/** Loads a catalogue and answers its number of templates. Refuses what would take over another catalogue's ids. */
export async function loadCatalogue(db: Database, catalogue: Catalogue): Promise<number> {
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
  return templates.length;
}

function refuseTwice(values: number[], what: string): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) throw new Refusal("invalid_value", { message: `The ${what} ${twice} stands there twice.` });
}
