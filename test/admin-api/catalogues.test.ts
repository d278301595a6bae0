import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import tiny from "../../templates/tiny.json";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit } from "../support/client.ts";
import { messagesOfSweep } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const errorOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code;

describe("PUT catalogues", () => {
  it("keeps repository ids when a catalogue is loaded again", async () => {
    const tux = await signedIn();
    const { appliance } = await readXml(await tux.post("/appliances", { clone_from: 1, arch: "x86_64" }));

    await loadTemplates();

    const { status } = await readXml(await tux.get(`/appliances/${appliance.id}/status`));
    expect(status.state).toBe("ok");
  });

  it("hides a removed template, which can still be read as a parent", async () => {
    const tux = await signedIn();
    const [first, second] = tiny.sets;
    const shorter = { ...tiny, sets: [{ ...first, templates: first?.templates.slice(0, 1) }, second] };

    await operate("PUT", "/catalogues/tiny", shorter);

    const { template_set: set } = await readXml(await tux.get("/template_sets/default"));
    expect(set.template.appliance_id).toBe("1");
    expect((await tux.get("/appliances/2")).status).toBe(200);
    await loadTemplates();
  });

  it("refuses template ids of another catalogue or of user appliances", async () => {
    const foreign = { ...tiny, name: "other", sets: tiny.sets.map((set) => ({ ...set, name: `other-${set.name}` })) };
    const [set] = tiny.sets;
    const template = { ...set?.templates[0], applianceId: 1000 };

    expect(await errorOf(await operate("PUT", "/catalogues/other", foreign))).toBe("invalid_value");
    const high = { ...tiny, sets: [{ ...set, templates: [template] }] };
    expect(await errorOf(await operate("PUT", "/catalogues/tiny", high))).toBe("invalid_value");
  });

  it("refuses a repository whose package type is not the base system's", async () => {
    const [repository, ...others] = tiny.repositories;
    const mixed = { ...tiny, repositories: [{ ...repository, type: "deb" }, ...others] };

    expect(await errorOf(await operate("PUT", "/catalogues/tiny", mixed))).toBe("invalid_value");
  });

  it("requires the admin secret", async () => {
    const answer = await visit("/admin/health", { headers: { authorization: "Bearer wrong" } });

    expect(answer.status).toBe(401);
  });
});

describe("GET health", () => {
  beforeAll(() => messagesOfSweep());

  it("reports that the database answers and WASM runs", async () => {
    expect(await (await operate("GET", "/health")).json()).toMatchObject({ ok: true, wasm: true });
  });

  it("fails while the database lacks a migration of this code", async () => {
    const newest = "(SELECT max(name) FROM d1_migrations)";
    await env.DB.prepare(`UPDATE d1_migrations SET name = 'x' || name WHERE name = ${newest}`).run();
    const answer = await operate("GET", "/health");
    await env.DB.prepare(`UPDATE d1_migrations SET name = substr(name, 2) WHERE name LIKE 'x%'`).run();

    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringMatching(/lacks the migration \d{4}_.*npm run deploy/) },
    });
    expect((await operate("GET", "/health")).status).toBe(200);
  });
});

describe("admin accounts", () => {
  it("creates an account, lists it without secrets and renews its key", async () => {
    const made = (await (
      await operate("POST", "/accounts", { username: "rhea", email: "rhea@example.org" })
    ).json()) as { apiKey: string };
    const again = await operate("POST", "/accounts", { username: "rhea", email: "rhea@example.org" });
    const listed = JSON.stringify(await (await operate("GET", "/accounts")).json());
    const renewed = (await (await operate("POST", "/accounts/rhea/rekey")).json()) as { apiKey: string };

    expect(await errorOf(again)).toBe("invalid_value");
    expect(listed).toContain("rhea");
    expect(listed).not.toContain(made.apiKey);
    expect([await statusWith(made.apiKey), await statusWith(renewed.apiKey)]).toEqual([401, 200]);
  });
});

const statusWith = async (key: string) =>
  (await visit("/api/v2/user/account", { headers: { authorization: `Basic ${btoa(`rhea:${key}`)}` } })).status;

describe("catalogue repository files", () => {
  it("stores, lists and removes files by path", async () => {
    const path = "/repositories/tiny/main/repodata/repomd.xml";
    await operate("PUT", path, { a: 1 });

    expect(await (await operate("GET", "/repositories?prefix=tiny/")).json()).toEqual({
      files: [{ path: "tiny/main/repodata/repomd.xml", size: 7 }],
    });
    await operate("DELETE", path);
    expect(await (await operate("GET", "/repositories?prefix=tiny/")).json()).toEqual({ files: [] });
  });

  it.each(["x", "tiny/%2e%2e/x", "tiny//x", "tiny/a b"])("refuses the path %s", async (path) => {
    expect((await operate("PUT", `/repositories/${path}`, {})).status).toBeGreaterThanOrEqual(400);
  });
});

describe("GET catalogues", () => {
  it("lists the repositories of each catalogue with their state", async () => {
    const { catalogues } = (await (await operate("GET", "/catalogues")).json()) as {
      catalogues: { name: string; repositories: object[] }[];
    };
    const listed = catalogues.find(({ name }) => name === "tiny")?.repositories;

    expect(listed).toHaveLength(tiny.repositories.length);
    expect(listed?.[0]).toEqual({
      name: "Tiny Linux 1.0 main",
      url: "service:/repositories/tiny/main",
      state: "ready",
      packages: expect.any(Number),
      progress: null,
      problem: null,
      importedAt: null,
    });
  });
});
