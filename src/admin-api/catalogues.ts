import { factory } from "#admin-api/factory";
import { loadCatalogue } from "#domain/appliances/template-set";
import { Refusal } from "#domain/refusal";
import { Catalogue } from "#model/catalogue";

/** Template catalogues: a file replaces the whole catalogue of its name. */
export const catalogues = factory.createApp().put("/:name", async (c) => {
  const catalogue = Catalogue.parse(await c.req.json());
  if (catalogue.name !== c.req.param("name")) {
    throw new Refusal("invalid_value", { message: `The file contains the catalogue ${catalogue.name}.` });
  }
  return c.json({ templates: await loadCatalogue(c.env, c.var.db, catalogue) });
});
