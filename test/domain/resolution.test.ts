import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { countChanges, imageOf, resolve } from "#domain/software/resolution";
import { ResolutionCache } from "#domain/software/resolution-cache";
import { jobsOf, type ApplianceSoftware, type Choice } from "#domain/software/resolution-request";
import { estimateOf } from "#domain/appliances/estimate";
import { solverModule } from "#solver/module";
import { openSolver } from "#solver/solver";
import type { Repository } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { addRepository, aliasOf, findRepository } from "#storage/repositories";
import { primaryXmlOf, shown } from "../solver/repo-dsl.ts";
import { signedIn } from "../support/client.ts";
import { stock } from "../support/repositories.ts";

const db = openDatabase(env.DB);
let ids = 0;
beforeEach(() => void (ids += 100));

/** A repository whose parts lie in R2 as an import leaves them: each list of packages is one part. */
async function repository(priority: number, ...parts: string[][]): Promise<Repository> {
  const id = ids++;
  const keys = await Promise.all(
    parts.map(async (packages, index) => {
      const key = `test-parts/${id}-${index}.solv`;
      await env.BLOBS.put(key, await partOf(primaryXmlOf(packages)));
      return key;
    }),
  );
  // Resolution reads a few columns of a wide row; this carries those alone.
  return { id, name: `number ${id}`, priority, revision: `revision-${id}`, parts: keys } as Repository;
}

async function partOf(primary: string): Promise<Uint8Array<ArrayBuffer>> {
  const solver = await openSolver(solverModule);
  const part = solver.addRepository("part");
  part.readPrimary(new TextEncoder().encode(primary));
  part.finish();
  return part.write("solving");
}

const choice = (words: string): Choice => {
  const [kind = "", name = "", version = null, repositoryId] = words.split(" ");
  return { kind: kind as Choice["kind"], name, version, repositoryId: repositoryId ? Number(repositoryId) : null };
};

const software = (
  repositories: Repository[],
  selection: string[],
  more: Partial<ApplianceSoftware> = {},
): ApplianceSoftware => ({
  arch: "x86_64",
  imageType: "oem",
  baseSystem: undefined,
  repositories,
  selection: selection.map(choice),
  ...more,
});

async function resolved(wanted: ApplianceSoftware): Promise<string[]> {
  const resolution = await resolve({ env, db }, wanted);
  if (resolution.state !== "solved") throw new Error(JSON.stringify(resolution));
  return resolution.packages.map(shown);
}

const facts = {
  title: "Test",
  kernels: ["kernel"],
  bootLoaders: ["grub"],
  patterns: {},
  bootstrap: null,
  detection: { urls: [], cpeIds: [], releaseCapabilities: [] },
};

describe("the resolution of an appliance", () => {
  it("takes what is required from all parts of all repositories, and the better priority over the newer version", async () => {
    const main = await repository(90, ["a-2.0 requires b"], ["b-1.0 requires c"]);
    const updates = await repository(80, ["c-1.0", "a-1.5 requires b"]);

    expect(await resolved(software([main, updates], ["package a"]))).toEqual(["a-1.5", "b-1.0", "c-1.0"]);
  });

  it("leaves recommended packages out, as KIWI does with packages that are only required", async () => {
    const main = await repository(99, ["a-1.0 recommends b", "b-1.0", "c-1.0 supplements a"]);

    expect(await resolved(software([main], ["package a"]))).toEqual(["a-1.0"]);
  });

  it("honours pins to a version and to a repository, and a pin to one that has left binds no more", async () => {
    const main = await repository(90, ["a-1.0", "a-2.0"]);
    const other = await repository(80, ["a-3.0"]);

    expect(await resolved(software([main, other], ["package a 1.0-1"]))).toEqual(["a-1.0"]);
    expect(await resolved(software([main, other], [`package a 2.0 ${main.id}`]))).toEqual(["a-2.0"]);
    const ofMain: Choice = { kind: "package", name: "a", version: null, repositoryId: main.id };
    expect(await resolved({ ...software([main, other], []), selection: [ofMain] })).toEqual(["a-2.0"]);
    expect(await resolved({ ...software([other], []), selection: [ofMain] })).toEqual(["a-3.0"]);
  });

  it("brings a pattern with the package that stands for it, and keeps a banned package out", async () => {
    const main = await repository(99, [
      "patterns-base-1.0 provides pattern() = base requires editor",
      "vi-1.0 provides editor",
      "emacs-1.0 provides editor",
    ]);

    const resolution = await resolve({ env, db }, software([main], ["pattern base", "ban emacs"]));

    expect(resolution).toMatchObject({
      state: "solved",
      packages: [{ name: "patterns-base" }, { name: "vi" }],
      patterns: [{ name: "base", by: { name: "patterns-base", repository: aliasOf(main.id) } }],
    });
  });

  it("adds what the base system needs for the image type, and for its bootstrap", async () => {
    const main = await repository(99, ["a-1.0", "live-1.0", "zypper-1.0"]);
    const baseSystem = { ...facts, needs: { iso: ["live"] }, bootstrap: ["zypper"] };

    expect(await resolved(software([main], ["package a"], { baseSystem }))).toEqual(["a-1.0", "zypper-1.0"]);
    expect(await resolved(software([main], ["package a"], { baseSystem, imageType: "iso" }))).toEqual([
      "a-1.0",
      "live-1.0",
      "zypper-1.0",
    ]);
  });

  it("solves for the 32-bit architecture of i586 appliances", async () => {
    const main = await repository(99, ["a-1.0.x86_64", "a-1.0.i586"]);

    expect(await resolved(software([main], ["package a"], { arch: "i586" }))).toEqual(["a-1.0.i586"]);
  });

  it("says why there is none, in libsolv's words with its proposals", async () => {
    const main = await repository(99, ["a-1.0 requires gone >= 7", "b-1.0 conflicts c", "c-1.0"]);

    expect(await resolve({ env, db }, software([main], ["package a"]))).toEqual({
      state: "unsolvable",
      problems: [
        {
          text: "nothing provides gone >= 7 needed by a-1.0-1.x86_64",
          proposals: ["do not ask to install a"],
        },
      ],
    });
    expect(await resolve({ env, db }, software([main], ["package b", "package c"]))).toMatchObject({
      problems: [{ proposals: ["do not ask to install c", "do not ask to install b"] }],
    });
  });

  it("proposes a package without its pin where the pin is the trouble, and nothing where there is no such package", async () => {
    const main = await repository(99, ["a-1.0"]);

    expect(await resolve({ env, db }, software([main], ["package a 9.9"]))).toMatchObject({
      problems: [{ install: "a" }],
    });
    const unknown = await resolve({ env, db }, software([main], ["package no-such 9.9"]));
    expect(unknown).toMatchObject({ state: "unsolvable", problems: [{ text: expect.stringContaining("no-such") }] });
    expect(unknown).not.toMatchObject({ problems: [{ install: expect.anything() }] });
  });

  it("knows nothing while a repository is not imported", async () => {
    const main = await repository(99, ["a-1.0"]);
    const waiting = { ...(await repository(99)), revision: null };

    expect(await resolve({ env, db }, software([main, waiting], ["package a"]))).toEqual({
      state: "unimported",
      repositories: [waiting],
    });
  });

  it("follows a new revision, and remembers the answers about the old one", async () => {
    const before = await repository(99, ["a-1.0"]);
    const after = { ...before, ...(await repository(99, ["a-1.1"])), id: before.id };

    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.0"]);
    expect(await resolved(software([after], ["package a"]))).toEqual(["a-1.1"]);
  });

  it("reads a repository again whose parts a later import has replaced while it was being read", async () => {
    const { accountId } = await signedIn();
    const row = { accountId, name: "Linux", url: "http://mirror.example.org", baseSystem: "other", arches: [] };
    const { id } = (await addRepository(db, { ...row, type: "rpm-md" })) ?? expect.fail();
    await stock(id, ["a-1.0"]);
    const before = (await findRepository(db, id)) ?? expect.fail();
    await stock(id, ["a-1.1"]);
    await env.BLOBS.delete(before.parts);

    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.1"]);
    // An answer about the old revision that is remembered needs no parts.
    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.1"]);
  });

  it("knows nothing while parts are missing, and works again when they are back", async () => {
    const { accountId } = await signedIn();
    const row = { accountId, name: "Linux", url: "http://mirror.example.org", baseSystem: "other", arches: [] };
    const { id } = (await addRepository(db, { ...row, type: "rpm-md" })) ?? expect.fail();
    await stock(id, ["a-1.0"]);
    const main = (await findRepository(db, id)) ?? expect.fail();
    const [key = ""] = main.parts;
    const part = (await (await env.BLOBS.get(key))?.arrayBuffer()) ?? expect.fail();
    await env.BLOBS.delete(key);
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});

    const resolution = await resolve({ env, db }, software([main], ["package a"]));

    expect(resolution).toEqual({ state: "unimported", repositories: [main] });
    expect(complaint).toHaveBeenCalledWith(expect.stringContaining(key));
    complaint.mockRestore();
    await env.BLOBS.put(key, part);
    expect(await resolved(software([main], ["package a"]))).toEqual(["a-1.0"]);
  });

  it("answers many at once, each its own", async () => {
    const repositories = await Promise.all(["a-1.0", "a-2.0", "a-3.0"].map((one) => repository(99, [one])));

    const answers = await Promise.all(repositories.map((one) => resolved(software([one], ["package a"]))));

    expect(answers).toEqual([["a-1.0"], ["a-2.0"], ["a-3.0"]]);
  });
});

describe("jobsOf", () => {
  it("asks the same whatever the order of the selection", () => {
    const selection = ["package b", "pattern base", "ban z", "package a"];

    expect(jobsOf(software([], selection))).toEqual(jobsOf(software([], selection.toReversed())));
  });

  it("does not ask twice for what is chosen and needed", () => {
    const baseSystem = { ...facts, needs: { iso: ["live"] } };

    const jobs = jobsOf(software([], ["package live 1.0"], { baseSystem, imageType: "iso" }));

    expect(jobs).toEqual([{ kind: "install", name: "live", version: "1.0", repository: undefined }]);
  });
});

describe("countChanges", () => {
  it("counts another version on both sides, and nothing when one side has no image", async () => {
    const main = await repository(99, ["a-1.0 requires b", "b-1.0", "a-2.0"]);
    const image = async (choice: string) => imageOf(await resolve({ env, db }, software([main], [choice])));
    const [older, newer] = [await image("package a 1.0"), await image("package a")];
    const broken = await image("package c");

    expect(countChanges(older, newer)).toEqual({ added: 1, removed: 2 });
    expect(countChanges(newer, newer)).toEqual({ added: 0, removed: 0 });
    expect(countChanges(newer, broken)).toBeUndefined();
  });
});

describe("estimateOf", () => {
  it("adds up what is installed, and for the compressed size what is downloaded", async () => {
    const id = ids++;
    const sized = primaryXmlOf(["a-1.0", "b-1.0"]).replaceAll(
      'package="10" installed="20"',
      `package="${3 * 1024 ** 2}" installed="${10 * 1024 ** 2}"`,
    );
    await env.BLOBS.put(`test-parts/${id}.solv`, await partOf(sized));
    const row = { id, priority: 99, revision: "sized", parts: [`test-parts/${id}.solv`] } as Repository;

    const estimate = estimateOf(await resolve({ env, db }, software([row], ["package a", "package b"])));

    expect(estimate).toEqual({ estimatedRawMb: 20, estimatedCompressedMb: 6 });
    expect(estimateOf(await resolve({ env, db }, software([row], ["package c"])))).toBeUndefined();
  });
});

describe("the cache of resolutions", () => {
  it("forgets what was not used for longest when it holds too much", () => {
    const cache = new ResolutionCache<{ weight: number }>(10);
    cache.set("a", { weight: 4 });
    cache.set("b", { weight: 4 });
    cache.get("a");

    cache.set("c", { weight: 4 });

    expect(["a", "b", "c"].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
  });

  it("counts a key once, and keeps nothing that is larger than itself", () => {
    const cache = new ResolutionCache<{ weight: number }>(10);
    for (let round = 0; round < 5; round++) cache.set("a", { weight: 4 });
    cache.set("b", { weight: 6 });
    expect(cache.get("a")).toBeDefined();

    cache.set("giant", { weight: 11 });

    expect(cache.get("giant")).toBeUndefined();
  });
});
