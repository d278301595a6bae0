import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { addRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { tinyRepository } from "../support/repositories.ts";
import { expectError, readXml } from "../support/xml.ts";

let main: number;
let updates: number;
beforeAll(async () => {
  await loadTemplates();
  [main, updates] = [await tinyRepository("main"), await tinyRepository("updates")];
});

let tux: Client;
let id: number;
beforeEach(async () => {
  tux = await signedIn();
  id = await createAppliance(tux);
});

async function idsOf(answer: Response): Promise<number[]> {
  const { repositories } = await readXml(answer);
  expect(repositories["@type"]).toBe("array");
  return [repositories.repository ?? []].flat().map((one: { id: string }) => Number(one.id));
}

const current = async () => idsOf(await tux.get(`/appliances/${id}/repositories`));
const put = (body: string, path = `/appliances/${id}/repositories`, contentType = "application/xml") =>
  tux.put(path, body, contentType);
const listOf = (...ids: (number | string)[]) =>
  `<repositories>${ids.map((one) => `<repository><id>${one}</id></repository>`).join("")}</repositories>`;

const add = (params: Record<string, string | number>) => tux.post(`/appliances/${id}/cmd/add_repository`, params);
const remove = (params: Record<string, string | number>) => tux.post(`/appliances/${id}/cmd/remove_repository`, params);

const ownDebRepository = async (accountId: number): Promise<number> => {
  const url = `http://mirror.example.org/${accountId}/dists/stable`;
  const row = { accountId, name: "tux stable", url, type: "deb", baseSystem: "other", arches: [] } as const;
  return (await addRepository(openDatabase(env), { ...row, arches: [], importState: "ready" }))?.id ?? 0;
};

const ownRepository = async (
  accountId: number,
  { isUserRepository } = { isUserRepository: false },
): Promise<number> => {
  const url = isUserRepository ? `service:/user/${accountId}` : `http://mirror.example.org/${accountId}`;
  const row = { accountId, name: "tux Tiny Linux", url, type: "rpm-md", baseSystem: "tiny-1.0", arches: [] } as const;
  return (
    (await addRepository(openDatabase(env), { ...row, arches: [], isUserRepository, importState: "ready" }))?.id ?? 0
  );
};

describe("GET /appliances/<id>/repositories", () => {
  it("lists repositories in their order", async () => {
    const { repositories } = await readXml(await tux.get(`/appliances/${id}/repositories`));
    expect(repositories.repository[0]).toEqual({
      id: String(main),
      name: "Tiny Linux 1.0 main",
      type: "rpm-md",
      base_system: "tiny-1.0",
      base_url: "https://kiln.test/repositories/tiny/main",
    });
    expect(await current()).toEqual([main, updates]);
  });

  it("shows a template's to everyone", async () => {
    expect(await idsOf(await tux.get("/appliances/1/repositories"))).toEqual([main, updates]);
  });
});

describe("PUT /appliances/<id>/repositories", () => {
  it("replaces the list, in the order that was sent", async () => {
    expect(await idsOf(await put(listOf(updates, main)))).toEqual([updates, main]);
    expect(await idsOf(await put(listOf(main)))).toEqual([main]);
    expect(await current()).toEqual([main]);
  });

  it("can empty the list", async () => {
    expect(await idsOf(await put("<repositories/>"))).toEqual([]);
  });

  it("accepts its own answer, with any content type", async () => {
    const answer = await (await tux.get(`/appliances/${id}/repositories`)).text();
    const path = `/appliances/${id}/repositories`;
    expect(await idsOf(await put(answer, path, "application/x-www-form-urlencoded"))).toEqual([main, updates]);
  });

  it("uses only the id of a repository", async () => {
    const repository = `<repository><smt_name a="b">c<d/></smt_name><id>${updates}</id><name/></repository>`;
    expect(await idsOf(await put(`<repositories>${repository}</repositories>`))).toEqual([updates]);
  });

  it("uses an id once that appears twice", async () => {
    expect(await idsOf(await put(listOf(updates, main, updates)))).toEqual([updates, main]);
  });

  it.each([
    ["", "invalid_xml"],
    ["<repositories>", "invalid_xml"],
    ['<!DOCTYPE a [<!ENTITY b "1">]><repositories><repository><id>&b;</id></repository></repositories>', "invalid_xml"],
    ["<software/>", "invalid_node"],
    ["<repositories><package>vim</package></repositories>", "invalid_node"],
    ["<repositories><repository><name>main</name></repository></repositories>", "invalid_node"],
    ["<repositories><repository><id>1</id><id>2</id></repository></repositories>", "invalid_node"],
    ["<repositories>1</repositories>", "invalid_value"],
    [listOf("x"), "invalid_repository_id"],
    [listOf("007"), "invalid_repository_id"],
    [listOf(999_999), "invalid_repository_id"],
  ])("refuses %s with %s and changes nothing", async (body, code) => {
    await expectError(await put(body), 400, code);
    expect(await current()).toEqual([main, updates]);
  });

  it("refuses another account's repository", async () => {
    const others = await ownRepository((await signedIn()).accountId);
    await expectError(await put(listOf(main, others)), 400, "invalid_repository_id");
    expect(await current()).toEqual([main, updates]);
  });
});

describe("a repository of the other type of packages", () => {
  it("is refused with a sentence by each call that adds one", async () => {
    const debs = await ownDebRepository(tux.accountId);

    for (const answer of [await put(listOf(main, debs)), await add({ repo_id: debs })]) {
      const text = await answer.clone().text();
      await expectError(answer, 400, "invalid_repository_id");
      expect(text).toContain("tux stable has deb packages, but Tiny Linux 1.0 needs rpm packages.");
    }
    expect(await current()).toEqual([main, updates]);
  });
});

describe("cmd/add_repository and cmd/remove_repository", () => {
  it("return the new list", async () => {
    const own = await ownRepository(tux.accountId);
    expect(await idsOf(await add({ repo_id: own }))).toEqual([main, updates, own]);
    expect(await idsOf(await remove({ repo_id: main }))).toEqual([updates, own]);
    expect(await idsOf(await add({ repo_id: main }))).toEqual([updates, own, main]);
  });

  it("do nothing if there is nothing to change", async () => {
    const own = await ownRepository(tux.accountId);
    expect(await idsOf(await add({ repo_id: main }))).toEqual([main, updates]);
    expect(await idsOf(await remove({ repo_id: own }))).toEqual([main, updates]);
  });

  it("can also remove by DELETE, as one client does", async () => {
    expect(await idsOf(await tux.delete(`/appliances/${id}/cmd/remove_repository?repo_id=${main}`))).toEqual([updates]);
  });

  it("keep all repositories that are added simultaneously", async () => {
    await remove({ repo_id: main });
    await remove({ repo_id: updates });
    const own = await ownRepository(tux.accountId);
    await Promise.all([main, updates, own, main].map((one) => add({ repo_id: one })));
    expect((await current()).toSorted()).toEqual([main, updates, own].toSorted());
  });

  it.each([
    [{}, "missing_parameter"],
    [{ repo_id: "x" }, "invalid_repository_id"],
    [{ repo_id: 999_999 }, "invalid_repository_id"],
  ])("refuse %j with %s", async (params, code) => {
    await expectError(await add(params as Record<string, string>), 400, code);
    await expectError(await remove(params as Record<string, string>), 400, code);
    expect(await current()).toEqual([main, updates]);
  });

  it("refuse another account's repository", async () => {
    const others = await ownRepository((await signedIn()).accountId);
    await expectError(await add({ repo_id: others }), 400, "invalid_repository_id");
  });
});

describe("cmd/add_user_repository", () => {
  it("adds the account's uploaded packages, which have no URL", async () => {
    const own = await ownRepository(tux.accountId, { isUserRepository: true });
    const { repositories } = await readXml(await tux.post(`/appliances/${id}/cmd/add_user_repository`));
    expect(repositories.repository[2]).toEqual({
      id: String(own),
      name: "tux Tiny Linux",
      type: "rpm-md",
      base_system: "tiny-1.0",
    });
    expect(await idsOf(await tux.post(`/appliances/${id}/cmd/add_user_repository`))).toEqual([main, updates, own]);
  });

  it("refuses an account without uploads", async () => {
    await ownRepository((await signedIn()).accountId, { isUserRepository: true });
    await expectError(await tux.post(`/appliances/${id}/cmd/add_user_repository`), 400, "user_repository_not_found");
  });
});
