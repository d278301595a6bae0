import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { countChanges, imageOf, resolve } from "#domain/software/resolution";
import { jobsOf, type ApplianceSoftware, type Choice } from "#domain/software/resolution-request";
import { downloadMb, estimateOf } from "#domain/appliances/estimate";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { LockTimeout } from "#lib/solver/pool";
import { solverPool } from "#lib/solver/shared";
import { openDatabase } from "#storage/db";
import { addRepository, aliasOf, findRepository, type Repository } from "#storage/repositories";
import { primaryXmlOf, shown } from "../solver/repo-dsl.ts";
import { signedIn } from "../support/client.ts";
import { counting } from "../support/counting.ts";
import { stock } from "../support/repositories.ts";

const db = openDatabase(env);
let ids = 0;
beforeEach(() => void (ids += 100));

/** A repository with parts in R2, as an import stores them. Each list of packages is one part. */
async function repository(priority: number, ...parts: string[][]): Promise<Repository> {
  const id = ids++;
  const keys = await Promise.all(
    parts.map(async (packages, index) => {
      const key = `test-parts/${id}-${index}.solv`;
      await env.BLOBS.put(key, await partOf(primaryXmlOf(packages)));
      return key;
    }),
  );
  // Resolution reads only a few columns of a wide row. This row has only those.
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
  settings: { firstBoot: "none", automaticUpdates: "none", diskEncryption: "none", fileSystem: "ext4" },
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
  it("combines all repositories and prefers a better priority to newer versions", async () => {
    const main = await repository(90, ["a-2.0 requires b"], ["b-1.0 requires c"]);
    const updates = await repository(80, ["c-1.0", "a-1.5 requires b"]);

    expect(await resolved(software([main, updates], ["package a"]))).toEqual(["a-1.5", "b-1.0", "c-1.0"]);
  });

  it("omits recommended packages, as KIWI does", async () => {
    const main = await repository(99, ["a-1.0 recommends b", "b-1.0", "c-1.0 supplements a"]);

    expect(await resolved(software([main], ["package a"]))).toEqual(["a-1.0"]);
  });

  it("follows pins to a version or repository, unless the repository is gone", async () => {
    const main = await repository(90, ["a-1.0", "a-2.0"]);
    const other = await repository(80, ["a-3.0"]);

    expect(await resolved(software([main, other], ["package a 1.0-1"]))).toEqual(["a-1.0"]);
    expect(await resolved(software([main, other], [`package a 2.0 ${main.id}`]))).toEqual(["a-2.0"]);
    const ofMain: Choice = { kind: "package", name: "a", version: null, repositoryId: main.id };
    expect(await resolved({ ...software([main, other], []), selection: [ofMain] })).toEqual(["a-2.0"]);
    expect(await resolved({ ...software([other], []), selection: [ofMain] })).toEqual(["a-3.0"]);
  });

  it("adds a pattern's package and omits a banned one", async () => {
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

  it("adds the base system's packages for image type and bootstrap", async () => {
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

  it("returns libsolv's problems and its proposals", async () => {
    const main = await repository(99, ["a-1.0 requires gone >= 7", "b-1.0 conflicts c", "c-1.0"]);

    expect(await resolve({ env, db }, software([main], ["package a"]))).toEqual({
      state: "unsolvable",
      problems: [
        {
          text: "nothing provides gone >= 7 needed by a-1.0-1.x86_64",
          ways: [{ text: "do not ask to install a", drops: [{ kind: "install", name: "a" }] }],
        },
      ],
    });
    expect(await resolve({ env, db }, software([main], ["package b", "package c"]))).toMatchObject({
      problems: [{ ways: [{ text: "do not ask to install c" }, { text: "do not ask to install b" }] }],
    });
  });

  it("proposes a package without its pin, if the package exists", async () => {
    const main = await repository(99, ["a-1.0"]);

    expect(await resolve({ env, db }, software([main], ["package a 9.9"]))).toMatchObject({
      problems: [{ install: "a" }],
    });
    const unknown = await resolve({ env, db }, software([main], ["package no-such 9.9"]));
    expect(unknown).toMatchObject({ state: "unsolvable", problems: [{ text: expect.stringContaining("no-such") }] });
    expect(unknown).not.toMatchObject({ problems: [{ install: expect.anything() }] });
  });

  it("is `unimported` while a repository is not imported", async () => {
    const main = await repository(99, ["a-1.0"]);
    const waiting = { ...(await repository(99)), revision: null };

    expect(await resolve({ env, db }, software([main, waiting], ["package a"]))).toEqual({
      state: "unimported",
      repositories: [waiting],
    });
  });

  it("uses a new revision, and caches answers per revision", async () => {
    const before = await repository(99, ["a-1.0"]);
    const after = { ...before, ...(await repository(99, ["a-1.1"])), id: before.id };

    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.0"]);
    expect(await resolved(software([after], ["package a"]))).toEqual(["a-1.1"]);
  });

  it("reloads a repository that another import has just replaced", async () => {
    const { accountId } = await signedIn();
    const row = { accountId, name: "Linux", url: "http://mirror.example.org", baseSystem: "other", arches: [] };
    const { id } = (await addRepository(db, { ...row, type: "rpm-md" })) ?? expect.fail();
    await stock(id, ["a-1.0"]);
    const before = (await findRepository(db, id)) ?? expect.fail();
    await stock(id, ["a-1.1"]);
    await env.BLOBS.delete(before.parts);

    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.1"]);
    // A cached answer about the old revision does not need the parts.
    expect(await resolved(software([before], ["package a"]))).toEqual(["a-1.1"]);
  });

  it("is `unimported` while parts are missing, and works once they return", async () => {
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

  it("resolves many requests at the same time", async () => {
    const repositories = await Promise.all(["a-1.0", "a-2.0", "a-3.0"].map((one) => repository(99, [one])));

    const answers = await Promise.all(repositories.map((one) => resolved(software([one], ["package a"]))));

    expect(answers).toEqual([["a-1.0"], ["a-2.0"], ["a-3.0"]]);
  });
});

describe("jobsOf", () => {
  it("does not depend on the order of the selection", () => {
    const selection = ["package b", "pattern base", "ban z", "package a"];

    expect(jobsOf(software([], selection))).toEqual(jobsOf(software([], selection.toReversed())));
  });

  it("requests a package once if it is both selected and needed", () => {
    const baseSystem = { ...facts, needs: { live: ["live"] } };

    const jobs = jobsOf(software([], ["package live 1.0"], { baseSystem, imageType: "iso" }));

    expect(jobs).toEqual([{ kind: "install", name: "live", version: "1.0", repository: undefined }]);
  });
});

describe("countChanges", () => {
  it("counts a new version on both sides, and nothing without an image", async () => {
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
  it("adds up installed sizes, and download sizes for the compressed size", async () => {
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

describe("downloadMb", () => {
  it("adds what the base system's images have in addition to their packages", () => {
    expect(downloadMb(130, { download: { besidesMb: 78, perPackageMb: 1.45 } })).toBe(267);
    expect(downloadMb(130, {})).toBe(130);
    expect(downloadMb(130, undefined)).toBe(130);
  });
});

describe("appliances of two bases in turn", () => {
  it("load the packages of each base once", async () => {
    const bases = [await repository(99, ["a-1", "b-1", "c-1"]), await repository(99, ["a-2", "b-2", "c-2"])];
    const debian = { ...facts, needs: {}, packageType: "deb" as const };
    const { env: counted, calls } = counting({ BLOBS: env.BLOBS });
    // A solver that earlier tests have filled has no room for a second base. A caller that exceeds its time loses the
    // solver.
    const endless = solverPool.withEmptySolver(() => new Promise(() => {}), { maxMs: 1 });
    await expect(endless).rejects.toThrow(LockTimeout);

    for (const name of ["a", "b", "c"]) {
      for (const [nth, base] of bases.entries()) {
        const baseSystem = nth === 0 ? undefined : debian;
        await resolve({ env: counted, db }, software([base], [`package ${name}`], { baseSystem }));
      }
    }

    expect(calls).toEqual(["BLOBS.get", "BLOBS.get"]);
  });
});
