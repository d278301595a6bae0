import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changed } from "#domain/software/change";
import { effectOf } from "#domain/software/effect";
import { remembered } from "#domain/software/resolution";
import { loadSoftware } from "#domain/software/resolution-request";
import { findAnyAppliance } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { repositories } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { stockTinyLinux, tinyRepository } from "../support/repositories.ts";
import { wholeDatabase } from "../support/whole-database.ts";
import { expectError } from "../support/xml.ts";

interface Effect {
  state: string;
  before?: { packages: number; download_size: number; installed_size: number };
  after?: { packages: number; download_size: number; installed_size: number };
  added: { name: string; version: string; installed_size: number; repository_id: number }[];
  removed: { name: string; version: string }[];
  problems: { text: string; meant: string[]; solutions: { text: string; change: Change }[] }[];
}
type Change = Record<string, (string | number)[]>;

const db = openDatabase(env);
let tux: Client;
let id: number;
let updates: number;

beforeAll(async () => {
  await loadTemplates();
  await stockTinyLinux();
  updates = await tinyRepository("updates");
});
beforeEach(async () => {
  tux = await signedIn();
  id = await createAppliance(tux);
});

async function effect(change: Change | string): Promise<Effect> {
  const query =
    typeof change === "string"
      ? change
      : new URLSearchParams(Object.entries(change).flatMap(([name, all]) => all.map((one) => [name, `${one}`])));
  const answer = await tux.get(`/appliances/${id}/software/effect?${query}`, {
    headers: { accept: "application/json" },
  });
  expect(answer.status).toBe(200);
  return (await answer.json<{ software_effect: Effect }>()).software_effect;
}

const names = (packages: { name: string; version: string }[]) =>
  packages.map(({ name, version }) => `${name}-${version}`);
const select = (kind: string, name: string, more = {}) => tux.post(`/appliances/${id}/cmd/${kind}`, { name, ...more });

describe("GET appliances/<id>/software/effect", () => {
  it("reports what comes with a package, and changes nothing", async () => {
    const before = await wholeDatabase(["account_rates"]);

    const seen = await effect("add_package=hello");

    expect(seen).toMatchObject({ state: "solved", removed: [], problems: [] });
    expect(names(seen.added)).toEqual(["hello-1.1-1", "libgreet-1.1-1"]);
    expect(seen.added.map((one) => one.repository_id)).toEqual([updates, updates]);
    expect((seen.after?.packages ?? 0) - (seen.before?.packages ?? 0)).toBe(2);
    expect(await wholeDatabase(["account_rates"])).toEqual(before);
  });

  it("counts the bytes of real packages", async () => {
    const { before, added, after } = await effect("add_package=hello");

    expect(before?.installed_size).toBeGreaterThan(300 * 2 ** 20);
    const more = added.reduce((sum, one) => sum + one.installed_size, 0);
    expect((after?.installed_size ?? 0) - (before?.installed_size ?? 0)).toBe(more);
  });

  it("reports what goes, and which version comes in its place", async () => {
    await select("add_package", "hello");

    expect(names((await effect("remove_package=hello")).removed)).toEqual(["hello-1.1-1", "libgreet-1.1-1"]);
    const pinned = await effect("add_package=hello=1.0-1");
    expect([names(pinned.removed), names(pinned.added)]).toEqual([["hello-1.1-1"], ["hello-1.0-1"]]);
    const without = await effect(`remove_repository=${updates}`);
    expect(names(without.added)).toEqual(["hello-1.0-1", "libgreet-1.0-1"]);
  });

  it("takes several changes at once", async () => {
    const seen = await effect("add_package=hello&add_pattern=mono&add_package=gcc-c%2B%2B");

    expect(names(seen.added)).toEqual(
      expect.arrayContaining(["gcc-c++-12.2.0-1", "hello-1.1-1", "mono-demo-1.0-1", "patterns-tiny-mono-1.0-1"]),
    );
  });

  it("takes additions only from the repository that is named", async () => {
    expect(names((await effect("add_package=hello")).added)).toContain("hello-1.1-1");
    const main = await tinyRepository("main");
    const older = await effect(`add_package=hello&repository_id=${main}`);
    expect(names(older.added)).toContain("hello-1.0-1");
    const lacking = await effect(`add_package=mono-demo&repository_id=${updates}`);
    expect(lacking.state).toBe("unsolvable");
  });

  it("refuses a repository that the appliance lacks", async () => {
    const answer = await tux.get(`/appliances/${id}/software/effect?add_package=hello&repository_id=999999`);
    await expectError(answer, 400, "invalid_repository_id");
  });

  it("is what the change then does", async () => {
    const { added, removed } = await effect("add_package=hello");
    const answer = await select("add_package", "hello");

    expect(await answer.text()).toContain(`<packages_added>${added.length}</packages_added>`);
    expect(removed).toEqual([]);
  });

  it("explains a conflict, and each solution is a change that resolves", async () => {
    await select("add_package", "webdemo");

    const seen = await effect("add_package=webdemo-pro");

    expect(seen).toMatchObject({ state: "unsolvable", added: [], removed: [] });
    expect(seen).not.toHaveProperty("after");
    const [problem] = seen.problems;
    expect(problem?.text).toContain("webdemo");
    expect(problem?.solutions.map(({ change }) => change)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ add_package: [], remove_package: [] }),
        expect.objectContaining({ add_package: ["webdemo-pro"], remove_package: ["webdemo"] }),
      ]),
    );
    for (const { change } of problem?.solutions ?? []) expect((await effect(change)).state).toBe("solved");
  });

  it("offers to allow a banned package that another one needs", async () => {
    await select("ban_package", "libgreet");

    const { problems } = await effect("add_package=hello");

    const changes = problems.flatMap(({ solutions }) => solutions.map(({ change }) => change));
    expect(changes).toContainEqual(expect.objectContaining({ add_package: ["hello"], unban_package: ["libgreet"] }));
  });

  it("offers another version where the wanted one does not exist", async () => {
    const { problems } = await effect("add_package=hello=7-1");

    expect(problems[0]?.solutions[0]?.change).toMatchObject({ add_package: ["hello"] });
  });

  it("reports that a repository is not imported yet", async () => {
    await db.update(repositories).set({ revision: null }).where(eq(repositories.id, updates));
    try {
      const { state, problems } = await effect("add_package=hello");
      expect([state, problems[0]?.text]).toEqual(["unimported", expect.stringContaining("still being imported")]);
    } finally {
      await stockTinyLinux();
    }
  });

  it("resolves nothing for a request that was given up", async () => {
    const appliance = await findAnyAppliance(db, id);
    if (!appliance) throw new Error("no appliance");
    const nothing = { addPatterns: [], removePackages: [], removePatterns: [], banPackages: [], unbanPackages: [] };
    const change = { ...nothing, addPackages: ["hello", "gcc-c++"], addRepositories: [], removeRepositories: [] };
    const request = { appliance, accountId: tux.accountId, change, signal: AbortSignal.abort(new Error("given up")) };

    await expect(effectOf({ env, db }, request)).rejects.toThrow("given up");

    const software = await loadSoftware(db, appliance);
    expect(remembered(await changed({ db }, { software, ...request }, change))).toBeUndefined();
  });
});
