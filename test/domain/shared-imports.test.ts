import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { searchPackages } from "#storage/packages";
import { addRepository, findRepository } from "#storage/repositories";
import tinySignature from "../fixtures/repodata/signed/tiny.asc?raw";
import { signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd, type RepositoryFiles } from "../support/mirror.ts";
import { storedOf } from "../support/test-repository.ts";

const db = openDatabase(env);
const old = rpmMd(["a-one-1", "a-two-1"]);
const fresh = rpmMd(["a-one-2"]);

let url: string;
let first: number;
let second: number;
beforeEach(async () => {
  url = `http://mirror.example.org/${crypto.randomUUID()}`;
  first = await added();
  second = await added();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function added(): Promise<number> {
  const { accountId } = await signedIn();
  const row = { accountId, name: "Linux", url, type: "rpm-md" as const, baseSystem: "other", arches: [] };
  return (await addRepository(db, row))?.id ?? 0;
}
const importing = (id: number, files: RepositoryFiles) => importRepository({ env, db }, id, mirrorOf({ [url]: files }));
const row = async (id: number) => (await findRepository(db, id)) ?? expect.fail("the repository is gone");
const stored = () => storedOf(url);
const names = async (id: number) => {
  const arches = ["x86_64"];
  const found = await searchPackages(db, { repositories: [await row(id)], arches, q: "a-", limit: 9 });
  return found.map(({ repositoryId, name, version }) => [repositoryId, `${name}-${version}`]);
};

describe("two accounts with a repository of the same address", () => {
  it("share its packages, and each finds them in its own repository", async () => {
    await importing(first, old);
    await importing(second, old);
    expect(await stored()).toEqual({ imports: 1, packages: 2 });
    expect((await row(second)).parts).toEqual((await row(first)).parts);
    expect(await names(first)).toEqual([
      [first, "a-one-1"],
      [first, "a-two-1"],
    ]);
    expect(await names(second)).toEqual([
      [second, "a-one-1"],
      [second, "a-two-1"],
    ]);
  });

  it("keep an old revision until neither uses it", async () => {
    await importing(first, old);
    await importing(second, old);
    await importing(first, fresh);
    expect(await names(second)).toHaveLength(2);
    expect(await stored()).toEqual({ imports: 2, packages: 3 });
    await importing(second, fresh);
    expect(await stored()).toEqual({ imports: 1, packages: 1 });
  });

  it("must each have fetched all that they see", async () => {
    await importing(first, old);
    const { "repodata/primary.xml.gz": _, ...indexAlone } = old;
    await importing(second, indexAlone);
    expect(await row(second)).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/does not exist/),
    });
  });

  it("do not share their signatures", async () => {
    await importing(first, old);
    await importing(second, { ...old, "repodata/repomd.xml.asc": tinySignature, "repodata/repomd.xml.key": "no key" });
    expect(await row(second)).toMatchObject({ importState: "failed", problem: expect.stringMatching(/signature|key/) });
  });

  it("wait equally long for a first import", async () => {
    await importing(first, old);
    await env.DB.prepare("UPDATE imports SET work_ms = 7000 WHERE url = ?").bind(url).run();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const waits = Promise.withResolvers<void>();
    const sleep = globalThis.setTimeout;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((run, ms) => {
      if (ms === 7000) waits.resolve();
      return sleep(run, ms);
    });
    const ended = vi.fn();
    const end = importing(second, old).then(ended);
    await waits.promise;
    await vi.advanceTimersByTimeAsync(6999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await end;
    expect(await row(second)).toMatchObject({ importState: "ready", packageCount: 2 });
  });
});
