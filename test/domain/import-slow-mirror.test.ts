import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importRepository, type Patience } from "#domain/repositories/import";
import { solverRoom } from "#solver/shared";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { heldMirror } from "../support/held-mirror.ts";
import { rpmMd } from "../support/mirror.ts";
import { change, cloned } from "../support/software.ts";

const db = openDatabase(env.DB);
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
    const entered = vi.spyOn(solverRoom, "withEmptySolver");
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

/** The result of an import whose mirror holds a file back for this long. */
async function importHeldFor(patience: Patience, timeMs: number) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const end = importing(patience);
  await mirror.begun;
  await vi.advanceTimersByTimeAsync(timeMs);
  return end;
}
