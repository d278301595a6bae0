import { factory } from "#admin-api/factory";
import { listCatalogues, loadCatalogue } from "#domain/appliances/template-set";
import { Refusal } from "#domain/refusal";
import { Catalogue } from "#model/catalogue";
import type { Repository } from "#storage/repositories";

/** Template catalogues. An uploaded file replaces the whole catalogue of the same name. */
export const catalogues = factory
  .createApp()
  .get("/", async (c) => {
    const listed = await listCatalogues(c.var.db);
    return c.json({
      catalogues: listed.map(({ name, repositories }) => ({ name, repositories: repositories.map(shown) })),
    });
  })
  .put("/:name", async (c) => {
    const catalogue = Catalogue.parse(await c.req.json());
    if (catalogue.name !== c.req.param("name")) {
      throw new Refusal("invalid_value", { message: `The file contains the catalogue ${catalogue.name}.` });
    }
    return c.json({ templates: await loadCatalogue({ env: c.env, db: c.var.db }, catalogue) });
  });

const shown = ({ name, url, importState: state, packageCount, importProgress, problem, importedAt }: Repository) => ({
  name,
  url,
  state,
  packages: packageCount,
  progress: importProgress,
  problem,
  importedAt,
});
