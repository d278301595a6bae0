import { z } from "zod";
import { content, definitionPlan } from "#documents/definition";
import { definition, wantedDefinition } from "#lib/definition/document";
import { applyDefinition, getDefinition } from "#domain/definitions/apply";
import { createFromDefinition, planNewDefinition } from "#domain/definitions/create";
import { planDefinition } from "#domain/definitions/plan";
import { storeContent } from "#domain/definitions/staged-content";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { flag } from "#http/params";
import { ofOwn } from "#api/of-appliance";
import { runToCompletion } from "#http/run-to-completion";
import { refuseLongBody } from "#http/upload-form";
import { announcedBytes } from "#http/upload";
import { uploadTooLarge } from "#domain/contents/overlay-file-content";

const wanted = { versions: v2, rate: "software", takes: wantedDefinition } as const;
const refuses = [
  "invalid_xml",
  "invalid_node",
  "invalid_value",
  "invalid_version",
  "invalid_image_type",
  "invalid_repository_id",
  "invalid_key",
  "missing_parameter",
  "unknown_error",
] as const;
/** The refusals of a definition for a new appliance. */
export const refusesNew = [...refuses, "invalid_base_system", "invalid_architecture"] as const;

export const definitions: CallGroup = {
  title: "Definitions",
  about:
    "An appliance as one document, for a file next to your code: software, repositories, configuration, files and keys. " +
    "[definitions.md](definitions.md) describes it.",
  operations: [
    call("GET /appliances/{appliance_id}/definition", {
      name: "getDefinition",
      versions: v2,
      ...ofOwn,
      summary: "The whole appliance as one document, without passwords",
      answer: definition,
      hasEtag: true,
      act: ({ env, db, baseUrl }, { found }) => getDefinition({ env, db }, found, baseUrl),
    }),
    call("PUT /appliances/{appliance_id}/definition", {
      name: "applyDefinition",
      ...wanted,
      ...ofOwn,
      summary: "Apply a definition to an appliance: all of it, or nothing",
      details:
        "What you omit stays. A list that you send replaces the list. If the appliance is changed at the same time, the " +
        "answer is 412 and nothing is changed.",
      answer: definition,
      hasEtag: true,
      refuses,
      act: async ({ env, db, account, baseUrl }, { found, body, precondition }) =>
        await applyDefinition({ env, db }, found, { account, baseUrl, wanted: await body(), precondition }),
    }),
    call("POST /appliances/{appliance_id}/definition/plan", {
      name: "planDefinition",
      ...wanted,
      ...ofOwn,
      scope: "read",
      summary: "What a definition would change in an appliance",
      details: "Contents need not be sent first: their `sha256` and `size` are enough.",
      answer: definitionPlan,
      refuses,
      act: async ({ env, db, account, baseUrl }, { found, body }, c) => {
        const { signal } = c.req.raw;
        const request = { account, baseUrl, wanted: await body(), signal };
        return await runToCompletion(c, planDefinition({ env, db }, found, request));
      },
    }),
    call("POST /definitions", {
      name: "createFromDefinition",
      ...wanted,
      access: "own",
      summary: "Make an appliance from a definition",
      details:
        "It begins as a clone of the first template of `base_system`, and gets everything that is in the definition.",
      params: z.object({ only_new: flag.default(false) }),
      about: { only_new: "Refuse, with 412, if you already have an appliance of this name." },
      answer: definition,
      isCreated: true,
      refuses: refusesNew,
      reasons: ["changed"],
      act: async ({ env, db, account, baseUrl, requestId }, { body, only_new: isNameNew }) =>
        await createFromDefinition({ env, db }, { account, baseUrl, requestId, isNameNew, wanted: await body() }),
    }),
    call("POST /definitions/plan", {
      name: "planNewDefinition",
      ...wanted,
      access: "own",
      scope: "read",
      summary: "What a new appliance would have beyond its template",
      answer: definitionPlan,
      refuses: refusesNew,
      act: async ({ env, db, account, baseUrl }, { body }, c) => {
        const { signal } = c.req.raw;
        const request = { account, baseUrl, wanted: await body(), signal };
        return await runToCompletion(c, planNewDefinition({ env, db }, request));
      },
    }),
    call("POST /contents", {
      name: "storeContent",
      versions: v2,
      access: "own",
      rate: "uploads",
      summary: "Store the content of a file before a definition names it",
      details: "Name it in the definition by `sha256`, with the `upload` of the answer, within 45 minutes.",
      takes: { kind: "bytes", type: "application/octet-stream", what: "The content." },
      answer: content,
      isCreated: true,
      refuses: ["unknown_error"],
      act: async ({ env, db, account }, _request, c) => {
        refuseLongBody(c, uploadTooLarge);
        const body = c.req.raw.body ?? new Blob([]).stream();
        return await storeContent({ env, db }, account.id, { body, expectedBytes: announcedBytes(c.req.raw) });
      },
    }),
  ],
};
