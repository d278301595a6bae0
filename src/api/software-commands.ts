import { z } from "zod";
import { selectionChange } from "#documents/software";
import { deselect, select, type SoftwareKind } from "#domain/software/software";
import { byMethod, call, type Call } from "#api/call";
import { ofOwn } from "#api/of-appliance";
import { id, text } from "#http/params";

const Named = z.object({ name: text() });
const Pinned = Named.extend({
  version: z.string().optional(),
  repository_id: id("invalid_repository_id").optional(),
});

const ofEntry = { ...ofOwn, rate: "software", answer: selectionChange } as const;
const aboutName = (what: "package" | "pattern") => ({ name: `Name of the ${what}.` });

const add = (kind: "package" | "pattern"): Call =>
  call(`POST /appliances/{appliance_id}/cmd/add_${kind}`, {
    name: { package: "addPackage", pattern: "addPattern" }[kind],
    ...ofEntry,
    summary: `Select a ${kind}`,
    params: Pinned,
    about: {
      ...aboutName(kind),
      version: "Only this version: 1.0-1.",
      repository_id: "Only from this repository.",
    },
    refuses: ["missing_parameter", "invalid_value", "invalid_version", "invalid_repository_id"],
    act: ({ env, db }, { found, name, version, repository_id: repositoryId }) =>
      select({ env, db }, found, { kind, name, version, repositoryId }),
  });

/** A command whose only parameter is the entry's name. */
const byName = (
  verb: string,
  change: typeof deselect,
  { kind, ...rest }: { kind: SoftwareKind; name: string; summary: string },
): Call =>
  call(`POST /appliances/{appliance_id}/cmd/${verb}`, {
    ...ofEntry,
    ...rest,
    params: Named,
    about: aboutName(kind === "pattern" ? "pattern" : "package"),
    refuses: ["missing_parameter", "invalid_value"],
    act: ({ env, db }, { found, name }) => change({ env, db }, found, { kind, name }),
  });

const removals = [
  byName("remove_package", deselect, { kind: "package", name: "removePackage", summary: "Deselect a package" }),
  byName("remove_pattern", deselect, { kind: "pattern", name: "removePattern", summary: "Deselect a pattern" }),
  byName("unban_package", deselect, { kind: "ban", name: "unbanPackage", summary: "Allow a banned package again" }),
];

/** Each call changes one entry of the selection, and answers with the effect on the image. */
export const softwareCommands: readonly Call[] = [
  add("package"),
  add("pattern"),
  byName("ban_package", select, {
    kind: "ban",
    name: "banPackage",
    summary: "Ban a package, even if another one needs it",
  }),
  ...removals,
  // One client sends DELETE; accepting it does no harm (compatibility.md, "Bodies").
  ...removals.map((removal) => byMethod("DELETE", removal)),
];
