import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { importLimits } from "#domain/repositories/import-limits";
import type { Fetch } from "#domain/repositories/download";
import { openDatabase } from "#storage/db";
import { searchPackages } from "#storage/packages";
import { addRepository, findRepository } from "#storage/repositories";
import { packed } from "../fixtures/repodata/packed.ts";
import signedRepomd from "../fixtures/repodata/signed/repomd.xml?raw";
import tinySignature from "../fixtures/repodata/signed/tiny.asc?raw";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { signedIn } from "../support/client.ts";
import { solverOf } from "../support/imported.ts";
import { mirrorOf, rpmMd, type RepositoryFiles } from "../support/mirror.ts";
import { primaryXmlOf } from "../solver/repo-dsl.ts";

const db = openDatabase(env.DB);
/** One of its own for each test: repositories of one address share what is in them. */
let url: string;
let repositoryId: number;
beforeEach(async () => {
  const { accountId } = await signedIn();
  url = `http://mirror.example.org/${accountId}`;
  const row = { accountId, name: "Linux", url, baseSystem: "other", arches: [] };
  repositoryId = (await addRepository(db, { ...row, type: "rpm-md" }))?.id ?? 0;
});

const importing = (files: RepositoryFiles) => importRepository(env, db, repositoryId, mirrorOf({ [url]: files }));

const row = async () => (await findRepository(db, repositoryId)) ?? expect.fail("the repository is gone");

const names = async () => {
  const found = await searchPackages(db, {
    arches: ["noarch", "x86_64", "i586"],
    repositoryIds: [repositoryId],
    q: "-",
    allFields: false,
    limit: 100,
  });
  return found.map(({ name }) => name).toSorted();
};

/** Everything that an import could leave behind. */
const leavings = async () => {
  const { objects } = await env.BLOBS.list({ prefix: `solv/${repositoryId}/` });
  const rows = await env.DB.prepare(
    "SELECT count(*) AS n FROM packages JOIN imports ON imports.id = import_id WHERE url = ?",
  )
    .bind(url)
    .first("n");
  return { parts: objects.length, rows };
};

describe("an import", () => {
  it("shows packages, parts and facts at once", async () => {
    await importing(rpmMd(["vim-data-9.1", "vim-small-2:9.1-3.i586 requires vim-data"]));

    expect(await row()).toMatchObject({
      importState: "ready",
      problem: null,
      type: "rpm-md",
      packageCount: 2,
      arches: ["x86_64", "i586"],
      baseSystem: "other",
      signer: null,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await names()).toEqual(["vim-data", "vim-small"]);
  });

  it("leaves parts that the solver can load", async () => {
    await importing(rpmMd(["vim-small-2:9.1-3 requires vim-data", "vim-data-9.1"]));

    const resolution = (await solverOf(await row())).solve([{ kind: "install", name: "vim-small" }]);
    expect(resolution.state === "solved" && resolution.packages.map(({ name }) => name)).toEqual([
      "vim-data",
      "vim-small",
    ]);
  });

  it("does nothing twice while nothing has changed", async () => {
    const mirror = mirrorOf({ [url]: rpmMd(["a-one-1"]) });
    await importRepository(env, db, repositoryId, mirror);
    const { importId } = await row();
    mirror.asked.length = 0;

    await importRepository(env, db, repositoryId, mirror);

    expect(mirror.asked.filter((one) => one.includes("primary"))).toEqual([]);
    expect((await row()).importId).toBe(importId);
  });

  it("replaces the rows of the revision before", async () => {
    await importing(rpmMd(["a-one-1", "a-two-1"]));
    await importing(rpmMd(["a-two-1", "a-three-1"]));

    expect(await names()).toEqual(["a-three", "a-two"]);
    expect((await leavings()).rows).toBe(2);
    // The index of trigrams holds what the rows hold: it throws otherwise.
    await env.DB.prepare("INSERT INTO packages_fts(packages_fts, rank) VALUES ('integrity-check', 1)").run();
  });

  it("that runs twice at once shows each package once", async () => {
    const files = rpmMd(["a-one-1", "a-two-1"]);
    await Promise.all([importing(files), importing(files), importing(files)]);

    expect((await row()).importState).toBe("ready");
    expect(await names()).toEqual(["a-one", "a-two"]);
    expect(await leavings()).toEqual({ parts: 1, rows: 2 });
  });

  it("follows a mirror to where it sends us", async () => {
    const { fetchOutside } = mirrorOf({ "http://near.example.org": rpmMd(["a-one-1"]) });
    await importRepository(env, db, repositoryId, {
      fetchOutside: async (to) =>
        to.startsWith(url) ? Response.redirect(to.replace(url, "http://near.example.org"), 302) : fetchOutside(to),
    });
    expect(await names()).toEqual(["a-one"]);
  });

  it("reads what is large in parts, and keeps it as one", async () => {
    const many = Array.from({ length: 12_000 }, (_, nth) => `many${nth}-1`);
    await importing(rpmMd(many));

    expect(await row()).toMatchObject({ packageCount: 12_000, parts: [expect.any(String)] });
    const solver = await solverOf(await row());
    for (const name of ["many0", "many11999"]) expect(solver.info(name)).toMatchObject({ name, version: "1" });
    expect((await leavings()).rows).toBe(12_000);
  });

  it.each(["xz", "bz2"] as const)("opens %s with the solver's own decoder", async (suffix) => {
    const body = Uint8Array.from(Buffer.from(packed[suffix], "base64"));
    await importing(rpmMd([], { body, suffix: `xml.${suffix}` }));
    expect(await row()).toMatchObject({ problem: null, importState: "ready" });
    expect(await names()).toEqual(["a-packed"]);
  });

  it("takes an empty repository", async () => {
    await importing(rpmMd([]));
    expect(await row()).toMatchObject({ importState: "ready", packageCount: 0, parts: [] });
  });
});

const good = rpmMd(["a-good-1"]);
const other = rpmMd(["a-other-1"]);
const primary = "repodata/primary.xml.gz";
const zeros = new Uint8Array(gzipSync(new Uint8Array(64 << 20)));
const pathTrick = primaryXmlOf(["a-trick-1"]).replace('href="a-trick-1.rpm"', 'href="../../a-trick-1.rpm"');

/** The beginning of each large file, and then an error. */
const breaking: Fetch = async (to) => {
  const whole = good[to.slice(url.length + 1)];
  if (whole === undefined) return new Response("", { status: 404 });
  if (!to.endsWith(".gz")) return new Response(whole);
  const source = [() => whole as Uint8Array].values();
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = source.next();
        if (next.done) controller.error(new Error("connection reset"));
        else controller.enqueue(next.value().subarray(0, 30));
      },
    }),
  );
};

describe("what cannot be imported", () => {
  it.each<[string, RepositoryFiles, RegExp]>([
    ["nothing at all", {}, /neither repodata\/repomd.xml nor content/],
    ["a page instead of an index", { "repodata/repomd.xml": "<html><body>Hello</body></html>" }, /repomd/],
    [
      "an index that is cut off",
      { "repodata/repomd.xml": String(good["repodata/repomd.xml"]).slice(0, 150) },
      /repomd/,
    ],
    ["a list of packages that is not there", { ...other, [primary]: undefined as never }, /does not exist/],
    ["a wrong checksum", rpmMd(["a-other-1"], { checksum: "0".repeat(64) }), /expected 0000/],
    [
      "gzip that is cut off",
      rpmMd([], { body: new Uint8Array(gzipSync(primaryXmlOf(["a-other-1"]))).subarray(0, 90) }),
      /gzip/,
    ],
    ["packages that are cut off", rpmMd([], { primary: primaryXmlOf(["a-other-1"]).slice(0, -20) }), /ends before/],
    [
      "XML that is none",
      rpmMd([], { primary: primaryXmlOf(["a-other-1", "b-other-1"]).replace("</summary>", "</b>") }),
      /./,
    ],
    ["a bomb of zeros", rpmMd([], { body: zeros }), /./],
    ["an entity bomb", rpmMd([], { primary: `<!DOCTYPE m [<!ENTITY e "ha">]>${primaryXmlOf(["a-other-1"])}` }), /./],
    ["a package outside of the repository", rpmMd([], { primary: pathTrick }), /leaves the repository/],
    [
      "xz that is damaged",
      rpmMd([], { body: new Uint8Array([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2, 3, 4]), suffix: "xml.xz" }),
      /./,
    ],
  ])("is refused whole: %s", async (_, files, problem) => {
    await importing(files);
    expect(await row()).toMatchObject({
      importState: "failed",
      revision: null,
      problem: expect.stringMatching(problem),
    });
    expect(await leavings()).toEqual({ parts: 0, rows: 0 });
  });

  it("keeps the last good revision, and says why", async () => {
    await importing(good);
    const before = await row();
    await importing(rpmMd(["a-other-1"], { checksum: "0".repeat(64) }));

    const checked = { checkId: expect.any(String), checkedAt: expect.any(Date) };
    expect(await row()).toEqual({ ...before, ...checked, problem: expect.stringMatching(/expected/) });
    expect(await names()).toEqual(["a-good"]);
    expect(await leavings()).toEqual({ parts: 1, rows: 1 });
  });

  it("forgets the problem when the mirror is well again", async () => {
    await importing(good);
    await importing({});
    await importing(good);
    expect((await row()).problem).toBeNull();
  });

  it.each<[string, Fetch, RegExp]>([
    ["does not answer", () => Promise.reject(new Error("refused")), /cannot be reached/],
    ["answers 503", async () => new Response("busy", { status: 503 }), /answers 503/],
    ["leads in a circle", async (to) => Response.redirect(to, 302), /in a circle/],
  ])("keeps the last good revision of a mirror that %s", async (_, fetchOutside, problem) => {
    await importing(good);
    await importRepository(env, db, repositoryId, { fetchOutside });

    expect(await row()).toMatchObject({ importState: "ready", problem: expect.stringMatching(problem) });
    expect(await names()).toEqual(["a-good"]);
  });

  it("is a mirror that leads into a private network, in production", async () => {
    const asked: string[] = [];
    const fetchOutside: Fetch = async (to) => {
      asked.push(to);
      return Response.redirect("http://169.254.169.254/latest/", 302);
    };
    await importRepository({ ...env, MODE: "cloudflare" }, db, repositoryId, { fetchOutside });

    expect(await row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/169.254.169.254 cannot/),
    });
    expect(asked).toEqual([`${url}/repodata/repomd.xml`]);
  });

  it("is a mirror that breaks off in the middle", async () => {
    await importRepository(env, db, repositoryId, { fetchOutside: breaking });

    expect(await row()).toMatchObject({ importState: "failed", problem: expect.stringMatching(/breaks off|damaged/) });
    expect(await leavings()).toEqual({ parts: 0, rows: 0 });
  });
});

describe("a signature", () => {
  const signed = {
    "repodata/repomd.xml": signedRepomd,
    "repodata/repomd.xml.key": tinyKey,
    "repodata/repomd.xml.asc": tinySignature,
  };

  it("must be there again once the repository had one", async () => {
    await env.DB.prepare("UPDATE repositories SET signer = ? WHERE id = ?").bind("ABCD", repositoryId).run();
    await importing(good);
    expect(await row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/not signed by the key/),
    });
  });

  it("that belongs to another index is refused", async () => {
    await importing({ ...signed, ...good });
    expect(await row()).toMatchObject({ importState: "failed", problem: expect.stringMatching(/signature/) });
  });
});

describe("an index that opens to more than may be stored", () => {
  const limits = { ...importLimits };
  afterEach(() => void Object.assign(importLimits, limits));

  it.each([
    ["packages", { packages: 2 }, "it has more than 2 packages"],
    ["texts", { bytes: 2 ** 20 }, "it has more than 1 MB of names and descriptions"],
  ])("is refused for its %s, and leaves nothing", async (_, lower, problem) => {
    Object.assign(importLimits, lower);
    const long = primaryXmlOf(["a-one-1", "b-two-1", "c-three-1"]).replaceAll(
      "<summary>",
      `<summary>${"x".repeat(2 ** 19)}`,
    );
    await importing(rpmMd([], { primary: long }));
    expect(await row()).toMatchObject({ importState: "failed", problem });
    expect(await leavings()).toEqual({ parts: 0, rows: 0 });
  });
});
