import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importRepository, type Patience } from "#domain/repositories/import";
import { importPool } from "#lib/solver/shared";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { heldMirror } from "../support/held-mirror.ts";
import { rpmMd } from "../support/mirror.ts";
import { change, cloned } from "../support/software.ts";

const db = openDatabase(env);
const url = "http://slow.example.org/linux";
const primary = "repodata/primary.xml.gz";

let repositoryId: number;
let mirror: ReturnType<typeof heldMirror>;
beforeEach(async () => {
  const { accountId } = await signedIn();
  const row = { accountId, name: "Slow", url, type: "rpm-md" as const, baseSystem: "other", arches: [] };
  repositoryId = (await addRepository(db, row))?.id ?? 0;
  mirror = heldMirror(url, rpmMd(["a-one-1", "a-two-1"]), primary);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const importing = (patience: Patience = "patient") =>
  importRepository({ env, db }, repositoryId, { fetchOutside: mirror.fetchOutside, patience });
const row = async () => (await findRepository(db, repositoryId)) ?? expect.fail("the repository is gone");
const downloads = async () => (await env.BLOBS.list({ prefix: "downloads/" })).objects.map(({ key }) => key);

describe("an import from a slow mirror", () => {
  it("does not block the solver while it downloads", async () => {
    await loadTemplates();
    const entered = vi.spyOn(importPool, "withEmptySolver");
    const tux = await signedIn();
    const appliance = await cloned(tux);
    const end = importing();
    await mirror.begun;

    const answer = await tux.post(`/appliances/${appliance}/cmd/add_package`, { name: "hello" });
    expect((await change(answer)).state).toBe("changed");
    expect(entered).not.toHaveBeenCalled();

    mirror.release();
    expect(await end).toBe("ended");
    expect(await row()).toMatchObject({ importState: "ready", packageCount: 2 });
    expect(await downloads()).toEqual([]);
  });

  it("does not block the solver while it reads", async () => {
    await loadTemplates();
    const tux = await signedIn();
    const appliance = await cloned(tux);
    // Waits for the imports of the template.
    await change(await tux.post(`/appliances/${appliance}/cmd/add_package`, { name: "hello" }));
    const writing = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    // The import keeps its solver until its parts are in R2.
    const put: R2Bucket["put"] = async (key: string, ...rest: unknown[]) => {
      if (key.endsWith(".solv")) {
        writing.resolve();
        await written.promise;
      }
      return Reflect.apply(env.BLOBS.put, env.BLOBS, [key, ...rest]);
    };
    const slow = new Proxy(env.BLOBS, { get: (blobs, key) => (key === "put" ? put : bound(blobs, key)) });
    mirror = heldMirror(url, rpmMd(["a-one-2"]), primary);
    mirror.release();
    const end = importRepository({ env: { ...env, BLOBS: slow }, db }, repositoryId, mirror);
    await writing.promise;

    const answer = await tux.post(`/appliances/${appliance}/cmd/remove_package`, { name: "hello" });
    expect((await change(answer)).state).toBe("changed");

    written.resolve();
    expect(await end).toBe("ended");
    expect(await row()).toMatchObject({ importState: "ready", packageCount: 1 });
  });

  it("is too slow for a quick import after ten seconds, and continues", async () => {
    expect(await importHeldFor("quick", 10_000)).toBe("too_slow");
    expect(await row()).toMatchObject({ importState: "importing", problem: null });
    expect(await downloads()).toEqual([]);
  });

  it("fails if almost nothing arrives for half a minute", async () => {
    expect(await importHeldFor("patient", 30_000)).toBe("ended");
    const problem = `${url}/${primary} sends less than 8 KiB a second.`;
    expect(await row()).toMatchObject({ importState: "failed", problem });
    expect(await downloads()).toEqual([]);
  });
});

const bound = (blobs: R2Bucket, key: string | symbol): unknown => {
  const value: unknown = Reflect.get(blobs, key);
  return typeof value === "function" ? value.bind(blobs) : value;
};

/** The result of an import whose mirror delays a file by this time. */
async function importHeldFor(patience: Patience, timeMs: number) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const end = importing(patience);
  await mirror.begun;
  await vi.advanceTimersByTimeAsync(timeMs);
  return end;
}
