import { sharing as sharingDocument } from "#documents/sharing";
import { getSharing, share, unshare } from "#domain/appliances/sharing";
import { Refusal } from "#domain/refusal";
import { v2 } from "#openapi/operation";
import { call, type CallGroup } from "#api/call";

const ofAppliance = {
  versions: v2,
  ids: { appliance_id: "invalid_appliance_id" },
  answer: sharingDocument,
} as const;

/** All three answer the list (wire.md §2.5). */
export const sharing: CallGroup = {
  title: "Sharing",
  about: "Who else may read an appliance and clone it. Every call answers the new list.",
  operations: [
    call("GET /appliances/{appliance_id}/sharing", {
      name: "getSharing",
      access: "own",
      ...ofAppliance,
      summary: "The accounts that an appliance is shared with",
      act: ({ db, account }, { appliance_id }) => getSharing(db, account, appliance_id),
    }),
    call("POST /appliances/{appliance_id}/sharing/{username}", {
      name: "shareAppliance",
      access: "own",
      audit: { event: "appliance.shared", detail: ({ appliance_id, username }) => ({ appliance_id, username }) },
      ...ofAppliance,
      scope: "publish",
      summary: "Share an appliance with an account",
      refuses: ["invalid_username"],
      act: ({ db, account }, { appliance_id: applianceId }, c) =>
        share(db, account, { applianceId, username: usernameIn(c.req.url) }),
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

/** The last segment as it was sent: the Ruby client writes a space as a plus there, too (wire.md §5.2). */
function usernameIn(url: string): string {
  const [, segment = ""] = /\/([^/]+)\/*$/.exec(new URL(url).pathname) ?? [];
  try {
    return decodeURIComponent(segment.replaceAll("+", "%20"));
  } catch {
    throw new Refusal("invalid_username");
  }
}
