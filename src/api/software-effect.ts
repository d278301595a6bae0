import { z } from "zod";
import { softwareEffect as softwareEffectDocument } from "#documents/software-effect";
import { effectOf } from "#domain/software/effect";
import { Refusal } from "#domain/refusal";
import { call } from "#api/call";
import { ofReadable } from "#api/of-appliance";
import { v2 } from "#api/operation";
import { id, text } from "#http/params";
import { runToCompletion } from "#http/run-to-completion";

/** Each parameter may be repeated, except `repository_id`. */
const EffectRequest = z.object({
  add_package: text().optional(),
  remove_package: text().optional(),
  add_pattern: text().optional(),
  remove_pattern: text().optional(),
  ban_package: text().optional(),
  unban_package: text().optional(),
  add_repository: z.string().optional(),
  remove_repository: z.string().optional(),
  repository_id: id("invalid_repository_id").optional(),
});

/** The effect that a change of the selection would have, without making the change: a Kiln extension. */
export const softwareEffect = call("GET /appliances/{appliance_id}/software/effect", {
  name: "getSoftwareEffect",
  rate: "effects",
  versions: v2,
  ...ofReadable,
  summary: "The packages that a change would add and remove",
  details:
    "Each parameter except repository_id may be repeated. If the software would not resolve, the problems say why. A solution is a change, too: " +
    "send its members as the parameters of this call. Sizes are in bytes.",
  params: EffectRequest,
  about: {
    add_package: "Package to select, or one with a version: `hello=1.0-1`.",
    remove_package: "Package to deselect.",
    add_pattern: "Pattern to select.",
    remove_pattern: "Pattern to deselect.",
    ban_package: "Package to ban.",
    unban_package: "Package to allow again.",
    add_repository: "Id of a repository to add.",
    remove_repository: "Id of a repository to remove.",
    repository_id: "The packages and patterns to select must come from this repository.",
  },
  answer: softwareEffectDocument,
  refuses: ["invalid_value", "invalid_version", "invalid_repository_id"],
  act: async ({ env, db, account }, { found, all, repository_id: pinnedTo }, c) => {
    const change = {
      addPackages: all("add_package"),
      removePackages: all("remove_package"),
      addPatterns: all("add_pattern"),
      removePatterns: all("remove_pattern"),
      banPackages: all("ban_package"),
      unbanPackages: all("unban_package"),
      addRepositories: all("add_repository").map(repositoryId),
      removeRepositories: all("remove_repository").map(repositoryId),
      pinnedTo,
    };
    const { signal } = c.req.raw;
    return await runToCompletion(c, effectOf({ env, db }, { appliance: found, accountId: account.id, change, signal }));
  },
});

function repositoryId(value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new Refusal("invalid_repository_id");
  return Number(value);
}
