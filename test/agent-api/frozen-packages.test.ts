/** Uploaded packages of a frozen build, after the upload is deleted or replaced. */
import { env } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { beforeAll, expect, it } from "vitest";
import { attemptHeader } from "#lib/contract/index";
import { uploadsPrefix } from "#storage/blobs";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { rpmOf } from "../support/packages.ts";
import { sweepIn } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

const base = "tiny-1.0";
const minuteMs = 60_000;
beforeAll(loadTemplates);

/** Runs the sweep as if this many minutes had passed. R2's own clock does not change. */
const sweepAfter = (minutes: number) => sweepIn(minutes * minuteMs);

async function send(tux: Client, method: string, path: string, file: Uint8Array<ArrayBuffer>): Promise<string> {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const answer = await visit(`/api/v2/user${path}`, { method, headers: { authorization }, body: file });
  return (await readXml(answer)).rpm.id;
}

const uploads = (tux: Client, file: Uint8Array<ArrayBuffer>) => send(tux, "POST", `/rpms?base_system=${base}`, file);

/** An appliance with the uploaded package, and a build of it that an agent has claimed. */
async function building(tux: Client, name: string) {
  const applianceId = await createAppliance(tux);
  await tux.post(`/appliances/${applianceId}/cmd/add_user_repository`);
  const added = await readXml(await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name }));
  expect(added.success.details.status.state).toBe("changed");
  const buildId = await startBuild(tux, applianceId);
  const agent = await fakeAgent();
  const attempt = await agent.claimsBuild(buildId);
  return { applianceId, buildId, agent, attempt, get: () => fetched(agent, attempt, name) };
}

/** Requests a frozen package as the agent does: by its location, with the agent's token and the attempt's. */
async function fetched(agent: FakeAgent, { claim }: Attempt, name: string) {
  const frozen = claim.input.packages.find((one) => one.name === name) ?? expect.fail(`${name} is not frozen`);
  const path = `/builds/${claim.buildId}/${frozen.location}`;
  const answer = await agent.call("GET", path, { headers: { [attemptHeader]: claim.token } });
  return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : answer.status;
}

const locationIn = ({ claim }: Attempt, name: string) =>
  claim.input.packages.find((one) => one.name === name)?.location;

const blobKeys = async () => (await env.BLOBS.list({ prefix: uploadsPrefix })).objects.map(({ key }) => key);

it("resolves each uploaded package as soon as its upload is answered", async () => {
  const tux = await signedIn();
  await uploads(tux, rpmOf("a-first"));
  const applianceId = await createAppliance(tux);
  await tux.post(`/appliances/${applianceId}/cmd/add_user_repository`);
  for (const name of ["a-first", "b-second", "c-third"]) {
    if (name !== "a-first") await uploads(tux, rpmOf(name));
    const answer = await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name });
    const { state, packages_added: added } = (await readXml(answer)).success.details.status;
    expect([name, state, added]).toEqual([name, "changed", "1"]);
  }
});

it.each<[string, (file: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>]>([
  ["an RPM", async (file) => file],
  [
    "an archive",
    async (body) => Uint8Array.from(await packTar([{ header: { name: "a.rpm", size: body.byteLength }, body }])),
  ],
])("keeps packages of %s until an hour after the build", async (_, made) => {
  const tux = await signedIn();
  const file = rpmOf("own-note");
  const earlier = new Set(await blobKeys());
  const ownKeys = async () => (await blobKeys()).filter((key) => !earlier.has(key));
  const rpm = await uploads(tux, await made(file));
  const { buildId, get } = await building(tux, "own-note");

  await tux.delete(`/rpms/${rpm}`);
  expect(await get()).toEqual(file);
  for (const minutes of [1, 90, 180]) await sweepAfter(minutes);
  expect(await get()).toEqual(file);

  await tux.delete(`/running_builds/${buildId}`);
  expect(await get()).toBe(410);
  await sweepAfter(181);
  await sweepAfter(200);
  expect(await ownKeys()).not.toEqual([]);
  await sweepAfter(243);
  expect(await ownKeys()).toEqual([]);
});

it("keeps the frozen bytes when the upload is replaced", async () => {
  const tux = await signedIn();
  const [early, late] = [rpmOf("own-note", { payload: "early" }), rpmOf("own-note", { payload: "the later one" })];
  const rpm = await uploads(tux, early);
  const { get, buildId } = await building(tux, "own-note");

  expect(await uploads(tux, late)).toBe(rpm);
  await sweepAfter(90);
  expect(await get()).toEqual(early);

  await tux.delete(`/running_builds/${buildId}`);
  const { get: getLate } = await building(tux, "own-note");
  await send(tux, "PUT", `/rpms/${rpm}`, rpmOf("another"));
  expect(await getLate()).toEqual(late);
});

it("serves a frozen package only to the attempt frozen with it", async () => {
  const [tux, rhea] = [await signedIn(), await signedIn()];
  await uploads(tux, rpmOf("own-note"));
  await uploads(tux, rpmOf("a-secret"));
  await uploads(rhea, rpmOf("other-note"));
  const { agent, attempt } = await building(tux, "own-note");
  const { attempt: second } = await building(tux, "a-secret");
  const { attempt: other } = await building(rhea, "other-note");
  const status = async (path: string | undefined) => {
    const headers = { [attemptHeader]: attempt.claim.token };
    return (await agent.call("GET", `/builds/${attempt.claim.buildId}/${path}`, { headers })).status;
  };

  const own = locationIn(attempt, "own-note");
  expect(await status(own)).toBe(200);
  expect(await status(own?.replace("/0/", "/1/"))).toBe(404);
  expect(await status(locationIn(second, "a-secret"))).toBe(404);
  expect(await status(locationIn(other, "other-note"))).toBe(404);
  expect(await status("packages/x/0/a.rpm")).toBe(404);
});

it("serves packages to a build whose start was interrupted after its row", async () => {
  const tux = await signedIn();
  const file = rpmOf("own-note");
  await uploads(tux, file);
  const { agent, attempt, get, buildId } = await building(tux, "own-note");
  await attempt.call("release");
  await env.DB.prepare("DELETE FROM frozen_blobs WHERE build_id = ?").bind(buildId).run();
  expect(await get()).toBe(410);

  expect(await fetched(agent, await agent.claimsBuild(buildId), "own-note")).toEqual(file);
});
