import { SearchRequest } from "#api/appliances/search";
import { Named, OfBuild, Pinned } from "#api/appliances/software";
import type { RefusalCode } from "#domain/refusal";
import { both, xml, type Group, type Operation } from "#openapi/operation";
import { selectionChange, software as softwareDocument, softwareMap, wantedSoftware } from "#openapi/shapes/software";

const ofAppliance = { versions: both, unknown: ["invalid_appliance_id"] } satisfies Partial<Operation>;

/** One of the six that change the selection by one entry. */
function command(verb: string, summary: string, pinned?: "pinned"): Operation {
  const pins: RefusalCode[] = pinned ? ["invalid_version", "invalid_repository_id"] : [];
  return {
    name: verb.replace(/_(.)/, (_, letter: string) => letter.toUpperCase()),
    method: "POST",
    path: `/appliances/{appliance_id}/cmd/${verb}`,
    ...ofAppliance,
    summary,
    params: pinned ? Pinned : Named,
    about: {
      name: `Name of the ${verb.endsWith("pattern") ? "pattern" : "package"}.`,
      version: "This version alone: 1.0-1.",
      repository_id: "From this repository alone.",
    },
    answer: xml(selectionChange),
    refusals: ["missing_parameter", "invalid_value", ...pins],
  };
}

/** One client sends DELETE to these. */
function byDelete(operation: Operation): Operation {
  return { ...operation, name: `${operation.name}ByDelete`, method: "DELETE", deprecated: true };
}

const removals = [
  command("remove_package", "Deselect a package"),
  command("remove_pattern", "Deselect a pattern"),
  command("unban_package", "Let a banned package in again"),
];

export const software: Group = {
  title: "Software",
  about:
    "Packages and patterns that you choose; what they need comes by itself. A change answers how many packages the image " +
    "gains and loses, and whether the selection still resolves: broken means done, but not buildable.",
  operations: [
    {
      name: "getSoftware",
      method: "GET",
      path: "/appliances/{appliance_id}/software",
      ...ofAppliance,
      summary: "The selection; a version stands on pinned ones only",
      answer: xml(softwareDocument),
      hasEtag: true,
    },
    {
      name: "replaceSoftware",
      method: "PUT",
      path: "/appliances/{appliance_id}/software",
      ...ofAppliance,
      summary: "Replace the selection",
      body: { kind: "document", document: wantedSoftware },
      answer: xml(softwareDocument),
      hasEtag: true,
      refusals: ["invalid_xml", "invalid_node", "invalid_value", "invalid_version"],
    },
    {
      name: "listInstalledSoftware",
      method: "GET",
      path: "/appliances/{appliance_id}/software/installed",
      ...ofAppliance,
      summary: "What the next build will install, or what a build has installed",
      params: OfBuild,
      about: { build_id: "A build of this appliance; without it: the next one." },
      answer: xml(softwareMap),
      refusals: ["invalid_build_id", "build_not_found"],
    },
    {
      name: "searchSoftware",
      method: "GET",
      path: "/appliances/{appliance_id}/software/search",
      ...ofAppliance,
      summary: "Packages and patterns by a part of their name",
      params: SearchRequest,
      answer: xml(softwareMap),
      refusals: ["missing_parameter", "invalid_value"],
    },
    command("add_package", "Select a package", "pinned"),
    command("add_pattern", "Select a pattern", "pinned"),
    command("ban_package", "Keep a package out, whatever wants it"),
    ...removals,
    ...removals.map(byDelete),
  ],
};
