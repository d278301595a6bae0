import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { groups } from "#api/groups";
import { operate, type Client } from "../support/client.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError } from "../support/xml.ts";
import type { Row } from "./every-call/row.ts";
import { rows } from "./every-call/rows.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";
import { filled, filledBody, sent } from "./every-call/send.ts";

/** Calls about the account itself, and calls that show a webhook's secret. */
const needKey = [
  "GET /account/audit_log",
  "PUT /account/mail",
  "DELETE /account",
  "PUT /account/password",
  "GET /account/sessions",
  "DELETE /account/sessions/{session_id}",
  "GET /tokens",
  "POST /tokens",
  "DELETE /tokens/{token_id}",
  "POST /webhooks",
  "DELETE /webhooks/{webhook_id}",
];
const needPublish = [
  "POST /appliances/{appliance_id}/sharing/{username}",
  "DELETE /appliances/{appliance_id}/sharing/{username}",
  "PUT /appliances/{appliance_id}/channels/{channel}",
  "DELETE /appliances/{appliance_id}/channels/{channel}",
  "PUT /appliances/{appliance_id}/vex/{advisory}",
  "DELETE /appliances/{appliance_id}/vex/{advisory}",
  "POST /gallery/appliances/{appliance_id}/version/{version}",
  "PUT /gallery/appliances/{appliance_id}/version/{version}",
  "DELETE /gallery/appliances/{appliance_id}/version/{version}",
  "POST /gallery/appliances/{appliance_id}/rating",
  "POST /gallery/appliances/{appliance_id}/comments",
];
/** These calls only read, although they are POSTs. */
const needRead = ["POST /appliances/{appliance_id}/definition/plan", "POST /definitions/plan"];
/** Calls that name no appliance. For a token for one appliance, they show nothing of other appliances. */
const openToOne = [
  "GET /account",
  "GET /account/limits",
  "GET /api_version",
  "GET /template_sets",
  "GET /template_sets/{name}",
  "GET /appliances",
  "GET /overview",
  "GET /account/running_builds",
  "GET /account/images",
  "GET /testdrives",
  "GET /repositories",
  "GET /repositories/{repository_id}",
  "GET /rpms",
  "GET /rpms/{rpm_id}",
  "GET /rpms/{rpm_id}/data",
];

const scopes = ["read", "build", "publish"] as const;
const neededBy = (call: string) => {
  if (needKey.includes(call)) return "key";
  if (needPublish.includes(call)) return "publish";
  return call.startsWith("GET ") || needRead.includes(call) ? "read" : "build";
};
const has = (scope: (typeof scopes)[number], needed: string) =>
  needed !== "key" && scopes.indexOf(scope) >= scopes.findIndex((each) => each === needed);

let own: Sample;
/** The appliance that each id of the sample belongs to. */
let applianceOf: Record<string, number>;
const ofOne = new Map<number, Client>();
const ofScope = new Map<string, Client>();

beforeAll(async () => {
  await prepareSamples();
  own = await makeSample();
  own.ids = { ...own.ids, friend: "nobody" };
  applianceOf = await appliancesOf(own.ids);
  for (const scope of scopes) ofScope.set(scope, (await tokenOf(own.tux, { scope })).client);
  for (const applianceId of new Set(Object.values(applianceOf))) {
    ofOne.set(applianceId, (await tokenOf(own.tux, { scope: "publish", appliance_id: applianceId })).client);
  }
  await operate("PUT", "/read-only", { on: true });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await operate("PUT", "/read-only", { on: false });
});

async function appliancesOf(ids: Sample["ids"]): Promise<Record<string, number>> {
  const { appliance, published } = ids;
  const found = {
    appliance: Number(appliance),
    published: Number(published),
    file: Number(appliance),
    upload: Number(appliance),
  };
  const builds = ["build", "otherBuild", "running", "bootable"] as const;
  const ofBuilds = await Promise.all(
    builds.map(async (name) => {
      const asked = env.DB.prepare("SELECT appliance_id FROM builds WHERE id = ?").bind(ids[name]);
      return [name, Number(await asked.first("appliance_id"))] as const;
    }),
  );
  const all: Record<string, number> = { ...found, ...Object.fromEntries(ofBuilds) };
  return { ...all, testdrive: all["bootable"] ?? 0 };
}

/** Rows with `fresh` find a testdrive that has ended, but for these calls. */
const emptyToo = new Set(["GET /events", "GET /builds/{build_id}/checks"]);

/**
 * Whether the token is accepted. Nothing changes, because the service is in read-only mode and refuses accepted calls
 * later.
 */
async function isAccepted(row: Row, credentials: Client | undefined): Promise<boolean> {
  const [method = ""] = row.call.split(" ");
  const { ids } = own;
  const answer = await sent({ method, path: filled(row.path, ids), body: filledBody(row.sent, ids), credentials });
  if (answer.status === 403) {
    expect(await expectError(answer, 403, "access_denied")).toMatch(/token/);
    return false;
  }
  if (method !== "GET") await expectError(answer, 400, "read_only_mode_active");
  else expect([row.path, answer.status]).toEqual([row.path, row.fresh && !emptyToo.has(row.call) ? 400 : 200]);
  if (!answer.bodyUsed) await answer.body?.cancel();
  return true;
}

describe.each(rows.map((row) => [row.call, row] as const))("%s", (call, row) => {
  const needed = neededBy(call);

  it(`accepts the account's key, and tokens ${needed === "key" ? "never" : `from the scope "${needed}" on`}`, async () => {
    for (const scope of scopes) {
      expect(await isAccepted(row, ofScope.get(scope)), scope).toBe(has(scope, needed));
    }
    expect(await isAccepted(row, own.tux)).toBe(true);
  });

  it("accepts a token for one appliance only for this appliance", async () => {
    const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => applianceOf[name]);
    const named = new Set(names.filter((id) => id !== undefined));

    for (const [applianceId, client] of ofOne) {
      const reaches = named.size === 0 ? openToOne.includes(call) : named.size === 1 && named.has(applianceId);
      const mayDo = reaches && has("publish", needed) && call !== "POST /appliances";
      expect([applianceId, await isAccepted(row, client)]).toEqual([applianceId, mayDo]);
    }
  });
});

it("lists only calls that exist", () => {
  const all = groups.flatMap(({ operations }) => operations.map(({ method, path }) => `${method} ${path}`));
  for (const call of [...needKey, ...needPublish, ...needRead, ...openToOne]) expect(all).toContain(call);
});
