/** Every call of the agent API, made by every kind of caller. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { attemptHeader, TestdriveClaimAnswer, type TestdriveClaim } from "#lib/contract/index";
import { agentApi } from "#agent-api/index";
import { loadTemplates } from "../support/catalogue.ts";
import { checkReport } from "../support/check-report.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { bytesOf, fakeAgent, sha256, type FakeAgent } from "../support/fake-agent.ts";
import { rpmOf } from "../support/packages.ts";
import { bootableBuild, objectOf, until } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

const key = "a".repeat(64);
const image = bytesOf("0123456789");

/** Work that an agent holds, and what a call about it needs. */
type Held = { id: number; token: string };

/** The agents and their work. */
interface Work {
  holder: FakeAgent;
  /** Another agent, which holds a build and a session of another account. */
  neighbour: FakeAgent;
  build: Held & { past: string; done: Held; package: string; content: string };
  session: Held;
  theirs: { build: Held; session: Held };
  ended: Held;
}

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

type Call = { path: string; method: string; json?: unknown; body?: string; headers?: Record<string, string> };
type Row = Omit<Call, "path" | "method"> & {
  path: (about: Work["build"] & { session: number }) => string;
  /** The holder's answer: the call is authorized, whatever it then finds. */
  held: number;
};

const socket = { headers: { upgrade: "websocket" } };

/** Calls about a build, keyed by route as the API declares it; `ends`: the call ends the attempt; `done`: the answer about a finished build. */
const buildCalls: Record<string, Row & { ends?: true; done?: number }> = {
  "GET /builds/:id/prepared/:key": { path: ({ id }) => `/builds/${id}/prepared/${key}`, held: 200 },
  "GET /builds/:id/contents/:blobId": { path: ({ id, content }) => `/builds/${id}/contents/${content}`, held: 200 },
  "GET /builds/:id/packages/:blobId/:number/:fileName": {
    path: (build) => `/builds/${build.id}/${build.package}`,
    held: 200,
  },
  "GET /builds/:id/stored-packages": { path: ({ id }) => `/builds/${id}/stored-packages`, held: 200 },
  // The build needs no such package.
  "GET /builds/:id/stored-packages/:packageId/:piece": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999/1`,
    held: 404,
  },
  "PUT /builds/:id/stored-packages/:packageId/:piece": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999/1`,
    body: "part",
    headers: { "content-length": "4", "x-kiln-sha256": sha256(bytesOf("part")) },
    held: 404,
  },
  "POST /builds/:id/stored-packages/:packageId": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999`,
    json: { pieces: 1 },
    held: 404,
  },
  "POST /builds/:id/heartbeat": {
    path: ({ id }) => `/builds/${id}/heartbeat`,
    json: { phase: "Installing software", percent: 1, message: "" },
    held: 200,
  },
  // The build is no rebuild.
  "POST /builds/:id/rebuilt": { path: ({ id }) => `/builds/${id}/rebuilt`, json: { sha256: key, size: 1 }, held: 410 },
  "PUT /builds/:id/log": { path: ({ id }) => `/builds/${id}/log?offset=0`, body: "a line", held: 200 },
  "POST /builds/:id/artifacts/:name": {
    path: ({ id }) => `/builds/${id}/artifacts/image`,
    json: { size: 4, fileName: "image.bin" },
    held: 200,
  },
  "PUT /builds/:id/artifacts/:name/parts/:number": {
    path: ({ id }) => `/builds/${id}/artifacts/image/parts/1`,
    body: "part",
    headers: { "content-length": "4", "x-kiln-sha256": sha256(bytesOf("part")) },
    held: 200,
  },
  "POST /builds/:id/artifacts/:name/complete": {
    path: ({ id }) => `/builds/${id}/artifacts/files/complete`,
    json: { size: 4, partsDigest: key, md5: "a".repeat(32), sha1: "a".repeat(40), sha256: key },
    held: 409,
  },
  "POST /builds/:id/finish": {
    path: ({ id }) => `/builds/${id}/finish`,
    json: { fileName: "a.iso", rawSize: 1, compressed: false, installed: [], steps: [], builder: "9" },
    held: 409,
    // An agent that lost the answer repeats the call.
    done: 200,
  },
  "POST /builds/:id/fail": {
    path: ({ id }) => `/builds/${id}/fail`,
    json: { kind: "error", reason: "a test" },
    held: 200,
    ends: true,
  },
  "POST /builds/:id/release": { path: ({ id }) => `/builds/${id}/release`, json: {}, held: 200, ends: true },
};

const sessionCalls: Record<string, Row & { ended?: number }> = {
  "GET /testdrives/:id/image": { path: ({ session }) => `/testdrives/${session}/image`, held: 200 },
  "GET /testdrives/:id/control": { path: ({ session }) => `/testdrives/${session}/control`, ...socket, held: 101 },
  // The session's object does not know this viewer, visit or question: it also answers 410, with its own text.
  "GET /testdrives/:id/viewers/:viewer": {
    path: ({ session }) => `/testdrives/${session}/viewers/plain-x`,
    ...socket,
    held: 410,
  },
  "GET /testdrives/:id/visits/:visit/body": {
    path: ({ session }) => `/testdrives/${session}/visits/x/body`,
    held: 410,
  },
  "GET /testdrives/:id/visits/:visit/socket": {
    path: ({ session }) => `/testdrives/${session}/visits/x/socket`,
    ...socket,
    held: 410,
  },
  "POST /testdrives/:id/visits/:visit/answer": {
    path: ({ session }) => `/testdrives/${session}/visits/x/answer`,
    body: "",
    held: 410,
  },
  // The session's own agent can read the session's disk for a while after it ends.
  "GET /testdrives/:id/modified": {
    path: ({ session }) => `/testdrives/${session}/modified`,
    ...socket,
    held: 101,
    ended: 101,
  },
  // The boot of which it shows the screen may take longer than the session.
  "POST /testdrives/:id/screen": {
    path: ({ session }) => `/testdrives/${session}/screen`,
    body: "",
    held: 204,
    ended: 204,
  },
  // The claim of this session has no checks.
  "POST /testdrives/:id/checks": {
    path: ({ session }) => `/testdrives/${session}/checks`,
    json: checkReport([{ outcome: "passed", seen: "", seconds: 1 }]),
    held: 400,
  },
  "POST /testdrives/:id/modified/:request": {
    path: ({ session }) => `/testdrives/${session}/modified/x`,
    body: "{}",
    held: 410,
  },
};

/** Calls about the agent itself: they return the caller's own data, or hand out work. */
const ownCalls: Record<string, Omit<Call, "method">> = {
  "GET /socket": { path: "/socket" },
  ...Object.fromEntries(
    ["/hello", "/builds/claim", "/testdrives/claim"].map((path) => [`POST ${path}`, { path, json: {} }]),
  ),
};

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
