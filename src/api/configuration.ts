import { configuration as configurationDocument, configurationChange } from "#lib/configuration/document";
import { success } from "#documents/success";
import { changeConfiguration, shownConfiguration } from "#domain/configuration/of-appliance";
import type { PictureKind } from "#storage/pictures";
import { byMethod, call, file, type Call, type CallGroup } from "#api/call";
import { ofOwn, ofReadable } from "#api/of-appliance";
import { dropPictureBy, replacePictureBy, showPicture } from "#api/pictures";
import { v2 } from "#api/operation";

const readable = { versions: v2, ...ofReadable };
const own = { versions: v2, ...ofOwn };

export const configuration: CallGroup = {
  title: "Configuration",
  about: "The settings of an appliance, except its software. This came with version 2.",
  operations: [
    call("GET /appliances/{appliance_id}/configuration", {
      name: "getConfiguration",
      summary: "The whole configuration",
      ...readable,
      answer: configurationDocument,
      hasEtag: true,
      act: ({ env, account }, { found }) => shownConfiguration(env, account.id, found),
    }),
    call("PUT /appliances/{appliance_id}/configuration", {
      name: "changeConfiguration",
      rate: "uploads",
      summary: "Change any part of the configuration",
      details:
        "What you omit stays as it is. A list that you send replaces the list. Names of elements may have dashes instead of " +
        "underscores. Attributes and the id are ignored.",
      ...own,
      takes: configurationChange,
      answer: configurationDocument,
      hasEtag: true,
      refuses: ["invalid_xml", "invalid_node", "invalid_value", "invalid_image_type", "invalid_version"],
      act: async ({ env, db, account }, { found, body, precondition }) => {
        const of = { accountId: account.id, appliance: found };
        return await changeConfiguration({ env, db }, of, { change: await body(), precondition });
      },
    }),
    ...picture("logo", "Logo", "The logo. Default: the service's own."),
    ...picture("background", "Background", "The background as 100x100 thumbnail. Default: the service's own."),
  ],
};

/** The Ruby client sends a picture with POST, the specification uses PUT (compatibility.md, "Pictures"). */
function picture(kind: PictureKind, title: string, what: string): Call[] {
  const path = `/appliances/{appliance_id}/configuration/${kind}` as const;
  const replace = call(`PUT ${path}`, {
    name: `replace${title}`,
    rate: "uploads",
    summary: `Replace the ${kind}`,
    ...own,
    takes: { kind: "file", what: "A PNG." },
    answer: success,
    refuses: ["missing_parameter", "invalid_value"],
    act: replacePictureBy(kind),
  });
  return [
    call(`GET ${path}`, {
      name: `get${title}`,
      summary: `The ${kind} as PNG`,
      ...readable,
      answer: file(what, "image/png"),
      act: showPicture(kind),
    }),
    replace,
    byMethod("POST", replace),
    call(`DELETE ${path}`, {
      name: `delete${title}`,
      summary: `Remove the ${kind}; the service's own takes its place`,
      ...own,
      answer: success,
      act: dropPictureBy(kind),
    }),
  ];
}
