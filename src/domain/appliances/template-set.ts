import type { Services } from "#domain/services";
import { encrypted } from "#domain/configuration/secrets";
import { validate } from "#domain/configuration/validation";
import { Refusal } from "#domain/refusal";
import { waitForImport } from "#domain/repositories/repository";
import { requestNewImports } from "#domain/repositories/turns";
import { type Catalogue, packageTypeOfBase, packageTypeOfRepository } from "#model/catalogue";
import { RepodataFault } from "#lib/repodata/fault";
import { type SigningKey, signingKeysOf } from "#lib/repodata/signature";
import { listForeignTemplates, firstVersion, saveCatalogue } from "#storage/catalogues";
import { listBaseSystems } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listByCatalogue, listUnimported, type Repository } from "#storage/repositories";
import type { TemplateSet } from "#storage/template-sets";

type Template = Catalogue["sets"][number]["templates"][number];

/** How long the operator waits for the repositories of a catalogue. */
const importsWaitMs = 60_000;

/**
 * Loads a catalogue, imports its repositories, and returns its number of templates. Refused if it uses ids of another
 * catalogue. If a repository cannot be imported yet, the catalogue is loaded anyway. The repository's row has the
 * reason.
 */
export async function loadCatalogue({ env, db }: Services, catalogue: Catalogue): Promise<number> {
  const templates = catalogue.sets.flatMap(({ templates }) => templates);
  const ids = templates.map(({ applianceId }) => applianceId);
  refuseTwice(ids, "template id");
  const keys = new Set(catalogue.repositories.map(({ key }) => key));
  const unknown = templates.flatMap(({ repositories }) => repositories).find((key) => !keys.has(key));
  if (unknown) throw new Refusal("invalid_value", { message: `A template names the unknown repository ${unknown}.` });
  const mixed = catalogue.repositories.find(
    (one) => packageTypeOfRepository(one) !== packageTypeOfBase(catalogue.baseSystem),
  );
  if (mixed) {
    const message = `The repository ${mixed.key} is of type ${mixed.type}, which ${catalogue.baseSystem.name} cannot use.`;
    throw new Refusal("invalid_value", { message });
  }
  const foreign = await listForeignTemplates(db, catalogue.name, ids);
  if (foreign.length > 0) {
    throw new Refusal("invalid_value", { message: `Template id ${foreign.join(", ")} belongs to another catalogue.` });
  }
  await saveCatalogue(db, await withEncryptedPasswords(env, catalogue), await signingKeys(catalogue));
  await importCatalogue({ env, db }, catalogue.name);
  return templates.length;
}

/** All catalogues with their repositories, for the operator. */
export async function listCatalogues(db: Database): Promise<{ name: string; repositories: Repository[] }[]> {
  const names = new Set((await listBaseSystems(db)).map(({ catalogue }) => catalogue));
  return await Promise.all([...names].map(async (name) => ({ name, repositories: await listByCatalogue(db, name) })));
}

/**
 * A set whose templates list those repositories of their catalogue that were never imported. Until they are imported,
 * no clone can be built.
 */
export type OfferedSet = Omit<TemplateSet, "templates"> & {
  templates: (TemplateSet["templates"][number] & { importing: Repository[] })[];
};

export async function offered(db: Database, sets: readonly TemplateSet[]): Promise<OfferedSet[]> {
  const catalogues = new Set(sets.flatMap(({ templates }) => templates.map(({ catalogue }) => catalogue)));
  const missing = await listUnimported(db, [...catalogues]);
  const importing = (of: string) => missing.filter(({ catalogue }) => catalogue === of);
  return sets.map((set) => ({
    ...set,
    templates: set.templates.map((one) => ({ ...one, importing: importing(one.catalogue) })),
  }));
}

async function signingKeys({ keys }: Catalogue): Promise<SigningKey[]> {
  const read = keys.map(async (armour) => {
    try {
      return await signingKeysOf(new TextEncoder().encode(armour));
    } catch (error) {
      if (error instanceof RepodataFault) throw new Refusal("invalid_value", { message: `A key: ${error.message}.` });
      throw error;
    }
  });
  return (await Promise.all(read)).flat();
}

/**
 * Encrypts the passwords of the templates. Refuses a template with invalid values, because every clone of it would fail
 * later.
 */
async function withEncryptedPasswords(env: Env, catalogue: Catalogue): Promise<Catalogue> {
  const encryptedSets = catalogue.sets.map(async (set) => ({
    ...set,
    templates: await Promise.all(set.templates.map(async (template) => await encryptedTemplate(env, template))),
  }));
  return { ...catalogue, sets: await Promise.all(encryptedSets) };
}

async function encryptedTemplate(env: Env, template: Template): Promise<Template> {
  const { applianceId, name, imageType, configuration } = template;
  try {
    validate({ name, version: firstVersion, imageType, configuration });
  } catch (error) {
    if (error instanceof Refusal)
      throw new Refusal(error.code, { message: `Template ${applianceId}: ${error.message}` });
    throw error;
  }
  return { ...template, configuration: await encrypted(env, configuration) };
}

async function importCatalogue({ env, db }: Services, name: string): Promise<void> {
  const ids = (await listByCatalogue(db, name)).map(({ id }) => id);
  await requestNewImports({ env, db }, ids);
  await Promise.all(ids.map((id) => waitForImport(db, id, importsWaitMs)));
}

function refuseTwice(values: number[], what: string): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) throw new Refusal("invalid_value", { message: `The ${what} ${twice} appears twice.` });
}
