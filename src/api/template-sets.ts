import { Refusal } from "#domain/refusal";
import { findTemplateSet, listTemplateSets } from "#storage/template-sets";
import { arrayOf } from "#wire/xml";
import { factory } from "#api/factory";
import { xml } from "#api/respond";
import { templateSetFields } from "#api/views/template-set";

export const templateSets = factory
  .createApp()
  .get("/template_sets", async (c) => {
    const sets = await listTemplateSets(c.var.db);
    return xml(c, "template_sets", arrayOf("template_set", sets.map(templateSetFields)));
  })
  .get("/template_sets/:name", async (c) => {
    const set = await findTemplateSet(c.var.db, c.req.param("name"));
    if (!set) throw new Refusal("invalid_template_set", { in: "path" });
    return xml(c, "template_set", templateSetFields(set));
  });
