import { v2, xml, type Group, type Operation } from "#openapi/operation";
import { configuration as configurationDocument, wantedConfiguration } from "#openapi/shapes/configuration";
import { success } from "#openapi/shapes/general";

const ofAppliance = { versions: v2, unknown: ["invalid_appliance_id"] } satisfies Partial<Operation>;

/** Logo and background are read and sent in the same way; one client sends them by POST. */
function picture(kind: "logo" | "background", title: string, what: string): Operation[] {
  const path = `/appliances/{appliance_id}/configuration/${kind}`;
  const change = {
    path,
    ...ofAppliance,
    summary: `Replace the ${kind}`,
    body: { kind: "file", what: "A PNG." },
    answer: xml(success),
    refusals: ["missing_parameter", "invalid_value"],
  } satisfies Partial<Operation>;
  return [
    {
      name: `get${title}`,
      method: "GET",
      path,
      ...ofAppliance,
      summary: `The ${kind} as PNG`,
      answer: { kind: "file", types: ["image/png"], what },
    },
    { name: `replace${title}`, method: "PUT", ...change },
    { name: `replace${title}ByPost`, method: "POST", ...change, deprecated: true },
  ];
}

export const configuration: Group = {
  title: "Configuration",
  about: "What an appliance is set to, beside its software. This came with version 2.",
  operations: [
    {
      name: "getConfiguration",
      method: "GET",
      path: "/appliances/{appliance_id}/configuration",
      ...ofAppliance,
      summary: "The whole configuration",
      answer: xml(configurationDocument),
      hasEtag: true,
    },
    {
      name: "changeConfiguration",
      method: "PUT",
      path: "/appliances/{appliance_id}/configuration",
      ...ofAppliance,
      summary: "Change any part of it",
      details:
        "What is left out stays as it is; a list that is sent replaces the list. Dashes in names of elements do for " +
        "underscores, attributes and the id say nothing.",
      body: { kind: "document", document: wantedConfiguration },
      answer: xml(configurationDocument),
      hasEtag: true,
      refusals: ["invalid_xml", "invalid_node", "invalid_value", "invalid_image_type", "invalid_version"],
    },
    ...picture("logo", "Logo", "The logo, or the service's own where there is none."),
    ...picture("background", "Background", "The background in 100x100, or the service's own where there is none."),
  ],
};
