/** Every call of the agent API, made by every kind of caller. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { attemptHeader, TestdriveClaimAnswer, type TestdriveClaim } from "#lib/contract/index";
import { agentApi } from "#agent-api/index";
import { loadTemplates } from "../support/catalogue.ts";
import { buildCalls, key, ownCalls, sessionCalls, type Call, type Held, type Work } from "../support/agent-calls.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { bytesOf, fakeAgent, sha256, type FakeAgent } from "../support/fake-agent.ts";
import { rpmOf } from "../support/packages.ts";
import { bootableBuild, objectOf, until } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

const image = bytesOf("0123456789");

let work: Work;

beforeAll(async () => {
  await loadTemplates();
  const [tux, rhea] = [await signedIn(), await signedIn()];
  const [holder, neighbour] = [await fakeAgent(), await fakeAgent()];
  const ended = await sessionOf(tux, holder);
  await objectOf({ uid: ended.token.split(".")[2] ?? "" }).stop();
  work = {
    holder,
    neighbour,
    build: await buildOf(tux, holder),
    session: await sessionOf(tux, holder),
    theirs: { build: await buildOf(rhea, neighbour), session: await sessionOf(rhea, neighbour) },
    ended,
  };
});

/** A build in its second attempt, with an uploaded package, a file, and a root that another format has shared. */
async function buildOf(tux: Client, agent: FakeAgent): Promise<Work["build"]> {
  await visit("/api/v2/user/rpms?base_system=tiny-1.0", {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
    body: rpmOf("own-note"),
  });
  const applianceId = await createAppliance(tux);
  await tux.post(`/appliances/${applianceId}/cmd/add_user_repository`);
  await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "own-note" });
  await uploadFile(tux, applianceId, "a secret");
  const first = await agent.claimsBuild(await startBuild(tux, applianceId));
  await first.uploads(image);
  await first.uploadsArtifact("prepared", bytesOf("a root"));
  await first.finishes({ prepared: { key } });

  const id = await startBuild(tux, applianceId, { image_type: "iso", multi: "true" });
  const past = await agent.claimsBuild(id);
  await past.call("release");
  const claim = await claimWithUpload(agent, id);
  const done = { id: first.claim.buildId, token: first.claim.token };
  const own = claim.input.packages.find(({ name }) => name === "own-note");
  const [file] = claim.input.files ?? [];
  if (!own || !file) throw new Error("the build was not frozen with the upload and the file");
  return { id, token: claim.token, past: past.claim.token, done, package: own.location, content: file.blobId };
}

/** An attempt that has begun to upload its image. */
async function claimWithUpload(agent: FakeAgent, id: number) {
  const attempt = await agent.claimsBuild(id);
  await attempt.opensUpload(4);
  return attempt.claim;
}

/** A session that the agent has claimed, of a build with an image. */
async function sessionOf(tux: Client, agent: FakeAgent): Promise<Held> {
  const imageKey = `tests/${crypto.randomUUID()}`;
  await env.BLOBS.put(imageKey, image);
  const build = await bootableBuild(tux, { imageKey, fileSize: image.byteLength, sha256: sha256(image) });
  const posted = tux.post("/testdrives", { build_id: build.id });
  const claim = await until(async (): Promise<TestdriveClaim | undefined> => {
    const answer = await agent.call("POST", "/testdrives/claim", { json: { vnc: null } });
    return TestdriveClaimAnswer.parse(await answer.json()).testdrive ?? undefined;
  });
  await readXml(await posted);
  return { id: claim.testdriveId, token: claim.token };
}

const methodOf = (route: string) => route.split(" ")[0] ?? "";

async function makeCall(
  agent: FakeAgent | undefined,
  call: Call,
  token?: string,
): Promise<{ status: number; text: string }> {
  const headers = { ...call.headers, ...(token !== undefined && { [attemptHeader]: token }) };
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  const init = { headers, ...(body !== undefined && { body }) };
  const answer = agent
    ? await agent.call(call.method, call.path, init)
    : await visit(`/agent${call.path}`, { method: call.method, ...init });
  answer.webSocket?.accept();
  answer.webSocket?.close();
  return { status: answer.status, text: answer.webSocket ? "" : new TextDecoder().decode(await answer.arrayBuffer()) };
}

const statusOf = async (...call: Parameters<typeof makeCall>) => (await makeCall(...call)).status;

it("has every agent call in these tables", () => {
  const routes = agentApi.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys({ ...buildCalls, ...sessionCalls, ...ownCalls }).toSorted()).toEqual(routes.toSorted());
});

describe.each(Object.entries(buildCalls))("%s", (route, { path, held, ends, done = 410, ...more }) => {
  it("accepts only the agent that holds the build's current attempt", async () => {
    const { holder, neighbour, build, theirs, session } = work;
    const call = { ...more, method: methodOf(route), path: path({ ...build, session: session.id }) };

    expect(await statusOf(undefined, call, build.token)).toBe(401);
    expect(await statusOf(holder, call)).toBe(400);
    expect(await statusOf(neighbour, call, build.token)).toBe(410);
    expect(await statusOf(neighbour, call, theirs.build.token)).toBe(410);
    expect(await statusOf(holder, call, build.past)).toBe(410);
    expect(await statusOf(holder, call, session.token)).toBe(410);
    expect(await statusOf(holder, call, build.done.token)).toBe(410);
    const ofDone = { ...call, path: path({ ...build, id: build.done.id, session: session.id }) };
    expect(await statusOf(holder, ofDone, build.done.token)).toBe(done);
    expect(await statusOf(holder, ofDone, build.token)).toBe(410);
    expect(await statusOf(holder, call, build.token)).toBe(held);
    if (ends) work.build = { ...build, past: build.token, token: (await claimWithUpload(holder, build.id)).token };
  });
});

describe.each(Object.entries(sessionCalls))("%s", (route, { path, held, ended = 410, ...more }) => {
  it("accepts only the agent that holds the session", async () => {
    const { holder, neighbour, build, theirs, session, ended: over } = work;
    const callTo = ({ id }: Held) => ({ ...more, method: methodOf(route), path: path({ ...build, session: id }) });
    const call = callTo(session);

    expect(await statusOf(undefined, call, session.token)).toBe(401);
    expect(await statusOf(holder, call)).toBe(400);
    const refused = [
      await makeCall(neighbour, call, session.token),
      await makeCall(neighbour, call, theirs.session.token),
      await makeCall(holder, call, over.token),
      await makeCall(holder, call, build.token),
    ];
    expect(refused.map(({ status }) => status)).toEqual([410, 410, 410, 410]);
    expect(await statusOf(holder, callTo(over), over.token)).toBe(ended);
    const answer = await makeCall(holder, call, session.token);
    expect(answer.status).toBe(held);
    expect(refused.map(({ text }) => text)).not.toContain(answer.text || "nothing");
  });
});

it.each(Object.entries(ownCalls))("%s accepts only agents", async (route, call) => {
  expect(await statusOf(undefined, { ...call, method: methodOf(route) })).toBe(401);
});
