import type { Context } from "hono";
import { z } from "zod";
import { sharing as sharingDocument, sharingWarnings as sharingWarningsDocument } from "#documents/sharing";
import { getSharing, share, unshare } from "#domain/appliances/sharing";
import { sharingWarnings } from "#domain/appliances/sharing-warnings";
import { Refusal } from "#domain/refusal";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { ofOwn } from "#api/of-appliance";

const ofAppliance = {
  versions: v2,
  ids: { appliance_id: "invalid_appliance_id" },
  answer: sharingDocument,
} as const;

const WarningsRequest = z.object({ version: z.string().optional() });

/** Each call that changes a list of readers answers with the list (compatibility.md, "Sharing"). */
export const sharing: CallGroup = {
  title: "Sharing",
  about: "Who else may read an appliance and clone it, and what they learn. Every change returns the new list.",
  operations: [
    call("GET /appliances/{appliance_id}/sharing", {
      name: "getSharing",
      access: "own",
      ...ofAppliance,
      summary: "The accounts that an appliance is shared with",
      act: ({ db, account }, { appliance_id }) => getSharing(db, account, appliance_id),
    }),
    call("GET /appliances/{appliance_id}/sharing_warnings", {
      name: "listSharingWarnings",
      ...ofOwn,
      rate: "differences",
      versions: v2,
      summary: "What others learn if you share an appliance or publish a version",
      details:
        "Passwords that are not the template's, and files and scripts that look like secrets: of the appliance as it is now, and " +
        "of its ten newest images that differ. Ask before you share or publish.",
      params: WarningsRequest,
      about: { version: "A built version to publish. Default: the appliance with all of its images." },
      answer: sharingWarningsDocument,
      refuses: ["invalid_version"],
      act: ({ env, db }, { found, version }) => sharingWarnings({ env, db }, found, version),
    }),
    call("POST /appliances/{appliance_id}/sharing/{username}", {
      name: "shareAppliance",
      access: "own",
      audit: { event: "appliance.shared", detail: ({ appliance_id, username }) => ({ appliance_id, username }) },
      ...ofAppliance,
      scope: "publish",
      summary: "Share an appliance with an account",
      refuses: ["invalid_username"],
      act: async ({ db, account }, { appliance_id: applianceId }, c) => {
        const shared = await share(db, account, { applianceId, username: usernameIn(c.req.url) });
        linkWarnings(c, applianceId);
        return shared;
      },
    }),
    call("DELETE /appliances/{appliance_id}/sharing/{username}", {
      name: "unshareAppliance",
      access: "own",
      audit: { event: "appliance.unshared", detail: ({ appliance_id, username }) => ({ appliance_id, username }) },
      ...ofAppliance,
      scope: "publish",
      summary: "Stop sharing an appliance with an account",
      refuses: ["invalid_username"],
      act: ({ db, account }, { appliance_id: applianceId }, c) =>
        unshare(db, account, { applianceId, username: usernameIn(c.req.url) }),
    }),
  ],
};

/**
 * Adds a Link header to the answer of a call that makes images readable for others. It points to the secrets that this
 * exposes, for which the document has no place.
 */
export function linkWarnings(c: Context, applianceId: number, version?: string): void {
  const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
  c.header("Link", `</api/v2/user/appliances/${applianceId}/sharing_warnings${query}>; rel="related"`);
}

/**
 * The last segment as it was sent. The Ruby client encodes a space as a plus in paths, too (compatibility.md,
 * "Parameters").
 */
function usernameIn(url: string): string {
  const [, segment = ""] = /\/([^/]+)\/*$/.exec(new URL(url).pathname) ?? [];
  try {
    return decodeURIComponent(segment.replaceAll("+", "%20"));
  } catch {
    throw new Refusal("invalid_username");
  }
}
