import { z } from "zod";
import { archNames } from "#lib/contract/index";
import { appliance, appliances as appliancesDocument, applianceStatus } from "#documents/appliance";
import { overview } from "#documents/overview";
import { success } from "#documents/success";
import { onlyAppliance } from "#domain/accounts/access";
import { listByKeyOrToken } from "#domain/accounts/account";
import { cloneAppliance, parseArch } from "#domain/appliances/appliance";
import { deleteAppliance } from "#domain/appliances/deletion";
import { withLinks } from "#domain/builds/download-link";
import { withEstimate } from "#domain/appliances/estimate";
import { examineAgain, overviewOf } from "#domain/appliances/overview";
import { shownStatus } from "#domain/appliances/status";
import { affectedStates } from "#model/advisory";
import { withBuilds } from "#storage/appliance-builds";
import { challengeAgain, givenCredentials } from "#api/authenticate";
import { call, type CallGroup } from "#api/call";
import { ofOwn, ofReadable } from "#api/of-appliance";
import { v2 } from "#api/operation";
import { id, positive, text } from "#http/params";

const CloneRequest = z.object({
  clone_from: id("invalid_appliance_id"),
  name: text().optional(),
  arch: z.string().optional(),
});

const OverviewRequest = z.object({
  search: text().default(""),
  advisories: z.enum(affectedStates, "invalid_value").optional(),
  page: positive.default(1),
  per_page: positive.default(24),
});

/** Mounted before `authenticate`: one query checks the name and key and finds the appliances. */
export const listAppliances = call("GET /appliances", {
  name: "listAppliances",
  access: "own",
  isForAll: true,
  summary: "Your appliances with their finished images, newest first",
  answer: appliancesDocument,
  act: async ({ env, db }, _request, c) => {
    const given = givenCredentials(c.req.raw, env);
    return (given && (await listByKeyOrToken({ env, db }, given))) ?? challengeAgain(c, given);
  },
});

export const appliances: CallGroup = {
  title: "Appliances",
  about: "An appliance is what an image is built from: repositories, software, files, configuration.",
  operations: [
    listAppliances,
    call("GET /overview", {
      name: "getOverview",
      access: "own",
      isForAll: true,
      versions: v2,
      summary: "Your appliances at a glance, the last edited first",
      details:
        "Each with its state, its builds in progress, its last build, and the images of the version that was built last. `ok`, " +
        "`warning` and `error` are the result of the last check; `unknown` means that the appliance has changed since then. " +
        "advisories counts the security advisories that concern the worst of these images.",
      params: OverviewRequest,
      about: {
        search: "Part of a name, or a selected package.",
        advisories: "Only those whose last images a security advisory of this state concerns.",
      },
      answer: overview,
      refuses: ["invalid_value"],
      act: async ({ env, db, account, access }, { per_page: perPage, ...asked }, c) => {
        const only = onlyAppliance(access);
        const seen = await overviewOf({ env, db }, { accountId: account.id, only, ...asked, perPage });
        c.executionCtx.waitUntil(examineAgain({ env, db }, account.id, seen.stale));
        return seen;
      },
    }),
    call("POST /appliances", {
      name: "cloneAppliance",
      access: "public",
      rate: "clones",
      summary: "Clone a template or an appliance",
      details:
        "Clones a template, an appliance of yours or one that is shared with you, or a published one. The clone has everything " +
        "but the builds: software, repositories, files, keys, configuration and pictures. Its version is 0.0.1.",
      params: CloneRequest,
      about: {
        name: "Name of the copy. Default: a name made from yours and the source's.",
        arch: `One of ${archNames.join(", ")}. Default: i686, or what the base system has.`,
      },
      answer: appliance,
      refuses: ["missing_parameter", "invalid_appliance_id", "invalid_value", "invalid_architecture", "access_denied"],
      act: async ({ env, db, account, requestId }, { clone_from: cloneFrom, name, arch }) => {
        const request = { cloneFrom, name, arch: parseArch(arch), requestId };
        const clone = await cloneAppliance({ env, db }, account, request);
        return { appliance: await withEstimate({ env, db }, clone), builds: [] };
      },
    }),
    call("GET /appliances/{appliance_id}", {
      name: "getAppliance",
      ...ofReadable,
      summary: "An appliance",
      details: "Every account can read templates. They have no parent.",
      answer: appliance,
      act: async ({ env, db, account, access }, { found }) => {
        const { appliance, builds } = await withBuilds(db, await withEstimate({ env, db }, found));
        return { appliance, builds: withLinks(builds, found.accountId, { account, access }) };
      },
    }),
    call("DELETE /appliances/{appliance_id}", {
      name: "deleteAppliance",
      ...ofOwn,
      summary: "Delete an appliance",
      details: "Deletes its files, keys and builds too, and cancels builds in progress.",
      answer: success,
      refuses: ["cannot_delete_published_build"],
      act: ({ env, db }, { found }) => deleteAppliance({ env, db }, found),
    }),
    call("GET /appliances/{appliance_id}/status", {
      name: "getApplianceStatus",
      rate: "reads",
      ...ofReadable,
      summary: "Whether an appliance can be built",
      details:
        "If not, its issues say why, and what to install. A missing agreement and read-only mode are issues, too. For a name " +
        "that no repository has, they name the closest ones.",
      answer: applianceStatus,
      act: ({ env, db, account, baseUrl }, { found }) =>
        shownStatus({ env, db }, { appliance: found, accountId: account.id, baseUrl }),
    }),
  ],
};
