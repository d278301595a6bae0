import type { XmlFields } from "#wire/xml";
import type { TemplateSet } from "#storage/template-sets";

/** The element `template_set`: its templates are direct children (wire.md §2.2). */
export const templateSetFields = (set: TemplateSet): XmlFields => ({
  name: set.name,
  description: set.description,
  template: set.templates.map(({ applianceId, name, description, baseSystem }) => ({
    appliance_id: applianceId,
    name,
    description,
    basesystem: baseSystem,
  })),
});
