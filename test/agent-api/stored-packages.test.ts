/** Agents send packages that they fetched from mirrors, and can later get packages that a mirror has dropped. */
import { createHash } from "node:crypto";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attemptHeader, partDigestHeader, StoredPackages, type FrozenInput } from "#lib/contract/index";
import { completePackage, storePackages } from "#domain/builds/stored-packages";
import { packagesPrefix } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { rowOfBuild } from "../support/builds.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, sha256, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { sweepIn } from "../support/sweep.ts";

beforeAll(loadTemplates);

const db = openDatabase(env);
const minuteMs = 60_000;

let tux: Client;
let one: FakeAgent;
let other: FakeAgent;
beforeEach(async () => {
  tux = await signedIn();
  one = await fakeAgent();
  other = await fakeAgent();
});

type Frozen = Pick<FrozenInput, "packages" | "repositories">;

/** The packages of a mirror in the frozen input of a build. */
const frozen = (content: string, { repository = 70, type = "sha256" as "md5" | "sha256" | "sha512" } = {}): Frozen => ({
  repositories: [{ alias: "mirror", id: repository, name: "Mirror", url: "http://mirror.example.org/main" }],
  packages: [
    {
      name: "kept",
      epoch: 0,
      version: "1.0",
      release: "1",
      arch: "noarch",
      repository: "mirror",
      location: "kept-1.0-1.noarch.rpm",
      checksum: { type, value: createHash(type).update(content).digest("hex") },
      size: content.length,
    },
  ],
});

/** A build that needs these packages, and that an agent has claimed. */
async function held(agent: FakeAgent, needs: Frozen) {
  const buildId = await startBuild(tux, await createAppliance(tux));
  const attempt = await agent.claimsBuild(buildId);
  await storePackages({ env, db }, buildId, { ...attempt.claim.input, ...needs });
  return { buildId, attempt, agent };
}
type Held = Awaited<ReturnType<typeof held>>;

const ask = (
  agent: FakeAgent,
  { claim }: Attempt,
  request: string,
  init: { body?: BodyInit; headers?: Record<string, string> } = {},
) => {
  const [method = "GET", path = ""] = request.split(" ");
  const headers = { ...init.headers, [attemptHeader]: claim.token };
  return agent.call(method, `/builds/${claim.buildId}/stored-packages${path}`, { ...init, headers });
};

async function listed({ agent, attempt }: Held) {
  return StoredPackages.parse(await (await ask(agent, attempt, "GET ")).json()).packages;
}

async function idOf(build: Held): Promise<number> {
  return (await listed(build))[0]?.id ?? expect.fail("the build needs no package");
}

async function sends(
  build: Held,
  content: string,
  { digest = sha256(bytesOf(content)), piece = 1 } = {},
): Promise<Response> {
  const headers = { [partDigestHeader]: digest, "content-length": String(content.length) };
  const path = `/${await idOf(build)}/${piece}`;
  return await ask(build.agent, build.attempt, `PUT ${path}`, { body: bytesOf(content), headers });
}

async function completes({ agent, attempt }: Held, packageId: number, pieces = 1): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await ask(agent, attempt, `POST /${packageId}`, { body: JSON.stringify({ pieces }), headers });
}

async function stores(build: Held, content: string): Promise<void> {
  expect((await sends(build, content)).status).toBe(200);
  expect(await (await completes(build, await idOf(build))).json()).toEqual({ stored: true });
}

const read = async (build: Held, id: number) => await ask(build.agent, build.attempt, `GET /${id}/1`);

const blobs = async () => (await env.BLOBS.list({ prefix: packagesPrefix })).objects.map(({ key }) => key);
const blobsOf = async ({ buildId }: Held) => {
  const { uid } = await rowOfBuild(buildId);
  return (await blobs()).filter((key) => key.startsWith(`${packagesPrefix}${uid}-`));
};

describe("a stored package", () => {
  it.each(["md5", "sha256", "sha512"] as const)(
    "is read by another build that was frozen with it, by %s",
    async (type) => {
      const content = `a package, by ${type}`;
      const needs = frozen(content, { type });
      await stores(await held(one, needs), content);
      const second = await held(other, needs);

      expect(await listed(second)).toMatchObject([{ repositoryId: 70, pieces: 1 }]);
      const answer = await read(second, await idOf(second));

      expect([answer.status, await answer.text()]).toEqual([200, content]);
    },
  );

  it("is no other repository's, whatever checksum that one names", async () => {
    await stores(await held(one, frozen("private", { repository: 71 })), "private");
    const stranger = await held(other, frozen("private", { repository: 72 }));

    expect((await listed(stranger)).map(({ pieces }) => pieces)).toEqual([undefined]);
    expect((await read(stranger, await idOf(stranger))).status).toBe(404);
  });

  it("is not for a build that was not frozen with it", async () => {
    const first = await held(one, frozen("not theirs", { repository: 73 }));
    await stores(first, "not theirs");
    const stranger = await held(other, frozen("something else", { repository: 73 }));

    const id = await idOf(first);
    const answers = [await read(stranger, id), await completes(stranger, id)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });

  it("is only what was frozen: other bytes, and fewer, are refused", async () => {
    const build = await held(one, frozen("the right one", { repository: 74 }));

    expect((await sends(build, "the wrong one")).status).toBe(200);
    expect((await completes(build, await idOf(build))).status).toBe(400);
    expect((await sends(build, "garbled", { digest: sha256(bytesOf("another")) })).status).toBe(400);
    expect((await listed(build)).map(({ pieces }) => pieces)).toEqual([undefined]);
  });

  it("keeps its bytes, whatever an agent sends later", async () => {
    const build = await held(one, frozen("the first", { repository: 78 }));
    await stores(build, "the first");
    expect((await sends(build, "the other")).status).toBe(200);
    expect(await (await read(build, await idOf(build))).text()).toBe("the first");
  });

  it("may come in pieces, of which none may be missing", async () => {
    const build = await held(one, frozen("first and second", { repository: 79 }));
    const id = await idOf(build);
    expect((await sends(build, " and second", { piece: 2 })).status).toBe(200);
    expect((await completes(build, id, 2)).status).toBe(400);
    expect((await sends(build, "first")).status).toBe(200);
    expect((await completes(build, id)).status).toBe(400);

    expect(await (await completes(build, id, 2)).json()).toEqual({ stored: true });

    expect((await listed(build)).map(({ pieces }) => pieces)).toEqual([2]);
    const second = await ask(build.agent, build.attempt, `GET /${id}/2`);
    expect(await second.text()).toBe(" and second");
  });

  it("is stored once when two agents send it at the same time", async () => {
    const needs = frozen("both have it", { repository: 75 });
    const builds = [await held(one, needs), await held(other, needs)];

    await Promise.all(builds.map((build) => stores(build, "both have it")));

    const [first, second] = builds;
    if (!first || !second) throw new Error("no builds");
    expect(await (await read(second, await idOf(first))).text()).toBe("both have it");
    await sweepIn(2 * 60 * minuteMs);
    expect([...(await blobsOf(first)), ...(await blobsOf(second))]).toHaveLength(1);
    expect((await read(second, await idOf(first))).status).toBe(200);
  });

  it("stays while a build that has it is queued or stored, and an hour longer", async () => {
    const needs = frozen("needed for long", { repository: 76 });
    const first = await held(one, needs);
    await stores(first, "needed for long");
    await first.attempt.uploads(bytesOf("an image"));
    expect((await first.attempt.finishes()).status).toBe(200);
    const waiting = await startBuild(tux, await createAppliance(tux));
    await storePackages({ env, db }, waiting, { ...first.attempt.claim.input, ...needs });

    await sweepIn(24 * 60 * minuteMs);
    expect(await blobsOf(first)).toHaveLength(1);
    await tux.delete(`/builds/${first.buildId}`);
    await sweepIn(25 * 60 * minuteMs);
    expect(await blobs()).toContainEqual(expect.stringContaining(first.attempt.uid));
    await tux.delete(`/running_builds/${waiting}`);
    await sweepIn(26 * 60 * minuteMs);
    expect(await blobs()).toContainEqual(expect.stringContaining(first.attempt.uid));
    await sweepIn(28 * 60 * minuteMs);
    expect(await blobs()).not.toContainEqual(expect.stringContaining(first.attempt.uid));
  });

  it("leaves nothing behind when its agent is killed before it is complete", async () => {
    const build = await held(one, frozen("half sent", { repository: 77 }));
    expect((await sends(build, "half sent")).status).toBe(200);

    await sweepIn(30 * minuteMs);
    expect(await blobsOf(build)).toHaveLength(1);
    await sweepIn(61 * minuteMs);

    expect(await blobsOf(build)).toEqual([]);
  });

  it("is not stored beyond the operator's limit", async () => {
    const build = await held(one, frozen("one too many", { repository: 78 }));
    expect((await sends(build, "one too many")).status).toBe(200);
    const row = await rowOfBuild(build.buildId);
    const packageId = await idOf(build);

    const full = { env: { ...env, STORED_PACKAGES_GB: "0.000000001" }, db };
    expect(await completePackage(full, row, { packageId, pieces: 1 })).toEqual({ stored: false });
    expect(await completePackage({ env, db }, row, { packageId, pieces: 1 })).toEqual({ stored: true });
  });

  it("is none of the service's own repositories", async () => {
    const buildId = await startBuild(tux, await createAppliance(tux));
    const attempt = await one.claimsBuild(buildId);

    expect(await listed({ buildId, attempt, agent: one })).toEqual([]);
  });
});
