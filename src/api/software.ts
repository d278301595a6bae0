import { z } from "zod";
import { software as softwareDocument, softwareMap, wantedSoftware } from "#documents/software";
import { installedSoftware } from "#domain/images/installed-software";
import { getSearched, maxHits, searchSoftware } from "#domain/repositories/search";
import { prefersJson } from "#http/accept";
import { getSelection, replaceSelection } from "#domain/software/software";
import { call, type CallGroup } from "#api/call";
import { ofOwn, ofReadable } from "#api/of-appliance";
import { flag, id, positive, text } from "#http/params";
import { softwareCommands } from "#api/software-commands";
import { softwareEffect } from "#api/software-effect";

const OfBuild = z.object({ build_id: id("invalid_build_id").optional() });
const SearchRequest = z.object({
  q: text(),
  all_fields: flag.default(false),
  all_repos: flag.default(false),
  limit: positive.default(maxHits),
});

export const software: CallGroup = {
  title: "Software",
  about:
    "Packages and patterns that you choose; Kiln adds what they need. The answer to a change says how many packages the image " +
    "gains and loses, and whether the selection still resolves: broken means done, but not buildable.",
  operations: [
    call("GET /appliances/{appliance_id}/software", {
      name: "getSoftware",
      ...ofReadable,
      summary: "The selected packages and patterns; only pinned ones have a version",
      answer: softwareDocument,
      hasEtag: true,
      act: ({ db }, { found }) => getSelection(db, found),
    }),
    call("PUT /appliances/{appliance_id}/software", {
      name: "replaceSoftware",
      rate: "software",
      ...ofOwn,
      summary: "Replace the selection",
      takes: wantedSoftware,
      answer: softwareDocument,
      hasEtag: true,
      refuses: ["invalid_xml", "invalid_node", "invalid_value", "invalid_version"],
      act: async ({ env, db }, { found, body, precondition }) =>
        replaceSelection({ env, db }, found, { wanted: await body(), precondition }),
    }),
    call("GET /appliances/{appliance_id}/software/installed", {
      name: "listInstalledSoftware",
      rate: "reads",
      ...ofReadable,
      summary: "What the next build will install, or what a build has installed",
      params: OfBuild,
      about: { build_id: "A build of this appliance; the next one if omitted." },
      answer: softwareMap,
      refuses: ["invalid_build_id", "build_not_found"],
      act: ({ env, db }, { found, build_id }) => installedSoftware({ env, db }, found, build_id),
    }),
    call("GET /appliances/{appliance_id}/software/search", {
      name: "searchSoftware",
      rate: "reads",
      ...ofReadable,
      finds: ({ db, account }, id) => getSearched(db, account.id, id),
      summary: "Find packages and patterns by part of their name",
      details: "JSON also has their summaries, and their sizes as a download and installed.",
      params: SearchRequest,
      about: { limit: `Number of hits, ${maxHits} at most. Default: ${maxHits}.` },
      answer: softwareMap,
      refuses: ["missing_parameter", "invalid_value"],
      act: ({ env, db }, { found, q, limit, ...request }, c) =>
        searchSoftware({ env, db }, request.all_repos ? { ...found, repositories: found.usable } : found, {
          q,
          allFields: request.all_fields,
          limit: Math.min(limit, maxHits),
          detailed: prefersJson(c.req.header("accept")),
        }),
    }),
    softwareEffect,
    ...softwareCommands,
  ],
};
