import { configuration as configurationDocument, configurationChange } from "#documents/configuration";
import { success } from "#documents/success";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { changeConfiguration, shownConfiguration } from "#domain/configuration/of-appliance";
import type { PictureKind } from "#storage/pictures";
import { byMethod, call, file, type Call, type CallGroup } from "#api/call";
import { replacePictureBy, showPicture } from "#api/pictures";
import { v2 } from "#openapi/operation";

const ofAppliance = { versions: v2, ids: { appliance_id: "invalid_appliance_id" } } as const;

export const configuration: CallGroup = {
  title: "Configuration",
  about: "What an appliance is set to, beside its software. This came with version 2.",
  operations: [
    call("GET /appliances/{appliance_id}/configuration", {
      name: "getConfiguration",
      summary: "The whole configuration",
      ...ofAppliance,
      answer: configurationDocument,
      hasEtag: true,
      act: async ({ env, db, account }, { appliance_id }) =>
        shownConfiguration(env, account.id, await getAppliance(db, account.id, appliance_id)),
    }),
    call("PUT /appliances/{appliance_id}/configuration", {
      name: "changeConfiguration",
      summary: "Change any part of it",
      details:
        "What is left out stays as it is; a list that is sent replaces the list. Dashes in names of elements do for " +
        "underscores, attributes and the id say nothing.",
      ...ofAppliance,
      takes: configurationChange,
      answer: configurationDocument,
      hasEtag: true,
      refuses: ["invalid_xml", "invalid_node", "invalid_value", "invalid_image_type", "invalid_version"],
      act: async ({ env, db, account }, { appliance_id, body, precondition }) => {
        const appliance = await getOwnAppliance(db, account.id, appliance_id);
        const of = { accountId: account.id, appliance };
        return await changeConfiguration({ env, db }, of, { change: await body(), precondition });
      },
    }),
    ...picture("logo", "Logo", "The logo, or the service's own where there is none."),
    ...picture("background", "Background", "The background in 100x100, or the service's own where there is none."),
  ],
};

/** The Ruby client sends a picture by POST, the specification by PUT (wire.md §2.4). */
function picture(kind: PictureKind, title: string, what: string): Call[] {
  const path = `/appliances/{appliance_id}/configuration/${kind}` as const;
  const replace = call(`PUT ${path}`, {
    name: `replace${title}`,
    summary: `Replace the ${kind}`,
    ...ofAppliance,
    takes: { kind: "file", what: "A PNG." },
    answer: success,
    refuses: ["missing_parameter", "invalid_value"],
    act: replacePictureBy(kind),
  });
  return [
    call(`GET ${path}`, {
      name: `get${title}`,
      summary: `The ${kind} as PNG`,
      ...ofAppliance,
      answer: file(what, "image/png"),
      act: showPicture(kind),
    }),
    replace,
    byMethod("POST", replace),
  ];
}
