import { z } from "zod";
import { success } from "#documents/success";
import { vexStatements } from "#documents/vex-statements";
import { stateVex, withdrawVex } from "#domain/advisories/statements";
import { vexJustifications, vexStatuses } from "#lib/advisories/vex";
import { listStatements } from "#storage/vex-statements";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { ofOwn } from "#api/of-appliance";
import { choice, id } from "#http/params";

const Which = z.object({ build_id: id("invalid_build_id").optional() });

const Statement = Which.extend({
  status: choice(vexStatuses).optional(),
  justification: choice(vexJustifications).optional(),
  text: z.string().max(4000, "invalid_value").optional(),
});

const about = {
  advisory: "The id of the advisory, such as CVE-2026-1234, or of an announcement, such as DSA-6001-1.",
  build_id: "Only this image of the appliance. Default: all of its images.",
};

/** Owners' statements about advisories (docs/advisories.md). */
export const vex: CallGroup = {
  title: "Statements about advisories",
  about:
    "The owner of an appliance can state that an advisory does not affect its images, and why. The signed VEX document of each " +
    "image has the statement in place of the distribution's.",
  operations: [
    call("GET /appliances/{appliance_id}/vex", {
      name: "listVexStatements",
      ...ofOwn,
      versions: v2,
      summary: "Your statements about advisories that concern images of an appliance",
      answer: vexStatements,
      act: ({ db }, { found }) => listStatements(db, found.id),
    }),
    call("PUT /appliances/{appliance_id}/vex/{advisory}", {
      name: "stateVex",
      ...ofOwn,
      versions: v2,
      audit: { event: "vex.stated", detail: ({ appliance_id, advisory }) => ({ appliance_id, advisory }) },
      rate: "publications",
      scope: "publish",
      summary: "State that an advisory does not affect images of an appliance, or that you examine it",
      details:
        "Replaces an earlier statement about the same images. A statement about a single image takes precedence over one about all. " +
        "An announcement, such as DSA-6001-1, applies to each advisory that it fixes.",
      unknown: ["invalid_build_id"],
      params: Statement,
      about: {
        ...about,
        status: "not_affected or under_investigation.",
        justification: "Why the images are not affected, as OpenVEX lists it. Required for not_affected.",
        text: "An explanation for readers, at most 1000 characters.",
      },
      answer: vexStatements,
      refuses: ["invalid_value", "unknown_error"],
      act: async ({ db }, { found, build_id: buildId, advisory, status, justification, text }) => {
        await stateVex(db, found, { advisory, buildId, status, justification, text });
        return await listStatements(db, found.id);
      },
    }),
    call("DELETE /appliances/{appliance_id}/vex/{advisory}", {
      name: "withdrawVex",
      ...ofOwn,
      versions: v2,
      audit: { event: "vex.withdrawn", detail: ({ appliance_id, advisory }) => ({ appliance_id, advisory }) },
      scope: "publish",
      summary: "Withdraw a statement about an advisory",
      unknown: ["unknown_error"],
      params: Which,
      about,
      answer: success,
      refuses: ["invalid_value"],
      act: ({ db }, { found, build_id: buildId, advisory }) => withdrawVex(db, found, { advisory, buildId }),
    }),
  ],
};
