import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "#storage/db";
import { listForNameIndex } from "#storage/packages";
import { findRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { archiveKey, debSuite } from "../support/deb.ts";
import { mirrorOf, publish, rpmMd, type RepositoryFiles } from "../support/mirror.ts";
import { patienceMs } from "../support/patience.ts";
import { tinyRepository } from "../support/repositories.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";
import tiny from "../../templates/tiny.json";

const url = "http://mirror.example.org/perl";

beforeAll(loadTemplates);

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});
afterEach(() => void vi.restoreAllMocks());

/** The only network of the test. */
const mirror = (files: RepositoryFiles, base = url) =>
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => mirrorOf({ [base]: files }).fetchOutside(String(to)));

const listed = async (who: Client, query = "") => {
  const { repositories } = await readXml(await who.get(`/repositories${query}`));
  expect(repositories["@type"]).toBe("array");
  // oxlint-disable-next-line typescript/no-explicit-any -- one is an object, several are an array
  return [repositories.repository ?? []].flat() as any[];
};

describe("POST /repositories", () => {
  it("imports a repository and returns it", async () => {
    mirror(rpmMd(["perl-Moose-2.2", "perl-DBI-1.6"]));

    const { repository } = await readXml(await tux.post("/repositories", { url: `${url}/`, name: "Perl modules" }));

    expect(repository).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: "Perl modules",
      type: "rpm-md",
      base_system: "other",
      base_url: url,
    });
    expect(await readXml(await tux.get(`/repositories/${repository.id}`))).toEqual({ repository });
  });

  it("detects the base system", async () => {
    mirror(rpmMd(["perl-Moose-2.2"], { cpeId: "cpe:/o:kiln:tiny:1.0" }));
    const { repository } = await readXml(await tux.post("/repositories", { url, name: "Perl modules" }));
    expect(repository.base_system).toBe("tiny-1.0");
  });

  it("checks a Debian repository with the given key, and shows in JSON who signed it", async () => {
    const key = await archiveKey("Ours");
    mirror(await debSuite({ lists: { "main/amd64": ["tool 1"] }, key: key.secret }), `${url}/dists/own`);
    const added = { url: `${url}/dists/own`, name: "Ours", key: key.armour, accept_expired: "true" };
    const { repository } = await readXml(await tux.post("/repositories", added));
    expect(Object.keys(repository)).toEqual(["id", "name", "type", "base_system", "base_url"]);
    const json = await tux.get(`/repositories/${repository.id}`, { headers: { accept: "application/json" } });
    const shown = { signed_by: key.secret.getFingerprint().toUpperCase(), accepts_expired: true };
    expect(await json.json()).toMatchObject({ repository: shown });
  });

  it("shows it only to the account that imported it", async () => {
    mirror(rpmMd(["perl-Moose-2.2"]));
    const { repository } = await readXml(await tux.post("/repositories", { url, name: "Perl modules" }));
    const other = await signedIn();

    expect((await listed(tux)).map(({ id }) => id)).toContain(repository.id);
    expect((await listed(other)).map(({ id }) => id)).not.toContain(repository.id);
    expect((await other.post("/repositories", { url, name: "Mine" })).status).toBe(200);
  });

  it.each([
    [{ name: "Perl" }, "missing_url"],
    [{ url: "", name: "Perl" }, "missing_url"],
    [{ url }, "missing_name"],
    [{ url: "perl", name: "Perl" }, "invalid_value"],
    [{ url: "ftp://mirror.example.org/perl", name: "Perl" }, "invalid_value"],
    [{ url: "service:/repositories/tiny/main", name: "Perl" }, "invalid_value"],
    [{ url: "file:///etc", name: "Perl" }, "invalid_value"],
    [{ url, name: "Perl", key: "no key" }, "invalid_value"],
    [{ url, name: "Perl", accept_expired: "perhaps" }, "invalid_value"],
    [{ url: "http://user:password@mirror.example.org/perl", name: "Perl" }, "invalid_value"],
  ])("refuses %j with %s", async (params, code) => {
    const before = await listed(tux);
    await expectError(await tux.post("/repositories", params), 400, code);
    expect(await listed(tux)).toEqual(before);
  });

  it("refuses the same URL twice, however it is spelled", async () => {
    mirror(rpmMd(["perl-Moose-2.2"]));
    await tux.post("/repositories", { url, name: "Perl modules" });
    for (const again of [url, `${url}/`, "HTTP://MIRROR.example.org:80/perl", `${url}/repodata/repomd.xml`]) {
      await expectError(
        await tux.post("/repositories", { url: again, name: "Again" }),
        400,
        "repository_already_exists",
      );
    }
  });

  it("accepts one of several simultaneous requests", async () => {
    mirror(rpmMd(["perl-Moose-2.2"]));
    const answers = await Promise.all([1, 2, 3].map((nth) => tux.post("/repositories", { url, name: `Perl ${nth}` })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  });

  it("explains why an import failed, and can be retried", async () => {
    mirror({});
    const message = await expectError(await tux.post("/repositories", { url, name: "Perl" }), 400, "download_error");
    expect(message).toMatch(/neither repodata\/repomd.xml nor content/);
    expect((await listed(tux)).filter(({ name }) => name === "Perl")).toEqual([]);

    mirror(rpmMd(["perl-Moose-2.2"]));
    expect((await tux.post("/repositories", { url, name: "Perl" })).status).toBe(200);
  });
});

describe("GET /repositories", () => {
  it("shows catalogue repositories to everyone", async () => {
    const repositories = await listed(tux);
    expect(repositories).toContainEqual({
      id: String(await tinyRepository("main")),
      name: "Tiny Linux 1.0 main",
      type: "rpm-md",
      base_system: "tiny-1.0",
      base_url: "https://kiln.test/repositories/tiny/main",
    });
  });

  it("filters by base system, and refuses an invalid one", async () => {
    mirror(rpmMd(["perl-Moose-2.2"]));
    await tux.post("/repositories", { url, name: "Perl modules" });

    expect((await listed(tux, "?base_system=tiny-1.0")).map(({ name }) => name)).toEqual([
      "Tiny Linux 1.0 main",
      "Tiny Linux 1.0 updates",
    ]);
    expect((await listed(tux, "?base_system=other")).map(({ name }) => name)).toEqual(["Perl modules"]);
    expect((await listed(tux, "?base_system=&filter=")).length).toBe(3);
  });

  it("returns a filter's base system in lower case", async () => {
    mirror(rpmMd(["perl-Moose-2.2", "perl-DBI-1.6", "apache2-2.4"]));
    await tux.post("/repositories", { url, name: "Perl modules" });

    const [byName] = await listed(tux, "?filter=PERL");
    expect(byName.matches).toEqual({
      repository_name: "perl modules",
      repository_base_url: url,
      software_name: ["perl-dbi", "perl-moose"],
    });
    const [byPackage, ...more] = await listed(tux, "?filter=moose");
    expect([byPackage.matches, more]).toEqual([{ software_name: "perl-moose" }, []]);
    expect(await listed(tux, "?filter=no-such-thing")).toEqual([]);
    expect(await listed(tux, "?filter=%25")).toEqual([]);
  });
});

const minuteMs = 60_000;

const addStray = () =>
  env.PACKAGES.prepare(
    `INSERT INTO packages (import_id, name, epoch, version, release, arch, summary, description,
       size_bytes, installed_bytes, checksum_type, checksum, location)
     VALUES ('killed', 'stray', 0, '1', '1', 'noarch', '', '', 1, 1, 'sha256', '', '')`,
  ).run();
const strays = () => env.PACKAGES.prepare("SELECT count(*) AS n FROM packages WHERE import_id = 'killed'").first("n");

const turnsOf = (id: string) =>
  env.DB.prepare("SELECT count(*) AS n FROM import_turns WHERE repository_id = ?").bind(Number(id)).first("n");

const rowOf = async (id: number | string) =>
  (await env.DB.prepare("SELECT * FROM repositories WHERE id = ?").bind(id).first()) ?? {};

describe("a refresh", () => {
  it("picks up the service's own files within a minute of a change", async () => {
    const id = await tinyRepository("main");
    await publish("tiny/main", rpmMd(["fresh-one-1"]));
    await sweepIn(0);
    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ package_count: 1 }), patienceMs);
    const { import_id: first } = await rowOf(id);

    await sweepIn(minuteMs);
    await publish("tiny/main", rpmMd(["fresh-one-1", "fresh-two-1"]));
    await sweepIn(2 * minuteMs);

    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ package_count: 2 }), patienceMs);
    expect((await rowOf(id)).import_id).not.toBe(first);
  });

  it("runs every half hour, keeps good data, and reports problems", async () => {
    mirror(rpmMd(["perl-Moose-2.2"]));
    const { repository } = await readXml(await tux.post("/repositories", { url, name: "Perl modules" }));
    await vi.waitFor(async () => expect(await turnsOf(repository.id)).toBe(0), patienceMs);
    mirror({});

    const requested = vi.spyOn(env.IMPORTS, "send");
    const asked = () => requested.mock.calls.map(([body]) => Reflect.get(Object(body), "repositoryId"));
    await sweepIn(29 * minuteMs);
    expect(asked()).not.toContain(Number(repository.id));
    await sweepIn(31 * minuteMs);
    expect(asked()).toContain(Number(repository.id));

    await vi.waitFor(async () => expect((await rowOf(repository.id)).problem).toMatch(/neither/), patienceMs);
    expect(await rowOf(repository.id)).toMatchObject({ import_state: "ready", package_count: 1 });
  });

  it("deletes parts without a repository after an hour", async () => {
    const id = await tinyRepository("updates");
    await publish("tiny/updates", rpmMd(["fresh-one-1"]));
    await sweepIn(0);
    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ package_count: 1 }), patienceMs);
    await env.BLOBS.put(`solv/${id}/an-import-that-was-killed/0.solv`, "stray");
    const keys = async () => (await env.BLOBS.list({ prefix: `solv/${id}/` })).objects.map(({ key }) => key);
    const partKeys = async () => (await keys()).filter((key) => key.endsWith(".solv"));

    await sweepIn(30 * minuteMs);
    expect(await partKeys()).toHaveLength(2);
    await sweepIn(120 * minuteMs);

    expect(await partKeys()).toEqual(JSON.parse(String((await rowOf(id)).parts)));
    expect(await keys()).toHaveLength(2); // using the index of names
  });

  it("deletes package rows of an import that was killed", async () => {
    await env.DB.prepare("INSERT INTO imports (id, url, revision, begun_at) VALUES ('killed', 'x', 'y', ?)")
      .bind(Date.now())
      .run();
    await addStray();

    await sweepIn(0);
    expect(await strays()).toBe(1);
    await sweepIn(60 * minuteMs);
    expect(await strays()).toBe(0);
  });

  it("deletes package rows of an import that a restored database does not know, and no others", async () => {
    const db = openDatabase(env);
    const main = (await findRepository(db, await tinyRepository("main"))) ?? expect.fail();
    const ofMain = { importId: main.importId ?? expect.fail(), after: { name: "", id: 0 }, limit: 1000 };
    const before = await listForNameIndex(db, ofMain);
    await addStray();
    await sweepIn(60 * minuteMs);

    expect(await strays()).toBe(0);
    expect(await listForNameIndex(db, ofMain)).toEqual(before);
    expect(before).not.toEqual([]);
  });
});

describe("a catalogue", () => {
  it("has its repositories imported when it is loaded", async () => {
    await publish("tiny/main", rpmMd(["of-catalogue-1", "two-1", "three-1"]));
    expect((await operate("PUT", `/catalogues/${tiny.name}`, tiny)).status).toBe(200);
    // The answer waits up to half a minute for imports.
    const main = await tinyRepository("main");
    await expect.poll(() => rowOf(main)).toMatchObject({ import_state: "ready", package_count: 3 });
  });
});
