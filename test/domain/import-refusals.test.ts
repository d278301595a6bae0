import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { importLimits } from "#domain/repositories/import-limits";
import type { Fetch } from "#domain/repositories/download";
import { openDatabase } from "#storage/db";
import signedRepomd from "../fixtures/repodata/signed/repomd.xml?raw";
import tinySignature from "../fixtures/repodata/signed/tiny.asc?raw";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { rpmMd, type RepositoryFiles } from "../support/mirror.ts";
import { primaryXmlOf } from "../solver/repo-dsl.ts";
import { newRepository, type TestRepository } from "../support/test-repository.ts";

let repository: TestRepository;
beforeEach(async () => {
  repository = await newRepository();
});

const good = rpmMd(["a-good-1"]);
const other = rpmMd(["a-other-1"]);
const primary = "repodata/primary.xml.gz";
const zeros = new Uint8Array(gzipSync(new Uint8Array(64 << 20)));
const pathTrick = primaryXmlOf(["a-trick-1"]).replace('href="a-trick-1.rpm"', 'href="../../a-trick-1.rpm"');
const manyFiles = `a-many-1 files ${Array.from({ length: 10_001 }, (_, at) => `/d${at}/f`).join(", ")}`;

/** Sends the beginning of each large file, and then an error. */
const breaking: Fetch = async (to) => {
  const whole = good[to.slice(repository.url.length + 1)];
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

describe("a failed import", () => {
  it.each<[string, RepositoryFiles, RegExp]>([
    ["an empty server", {}, /neither repodata\/repomd.xml nor content/],
    ["a page instead of an index", { "repodata/repomd.xml": "<html><body>Hello</body></html>" }, /repomd/],
    [
      "an index that is cut off",
      { "repodata/repomd.xml": String(good["repodata/repomd.xml"]).slice(0, 150) },
      /repomd/,
    ],
    ["a missing list of packages", { ...other, [primary]: undefined as never }, /does not exist/],
    ["a wrong checksum", rpmMd(["a-other-1"], { checksum: "0".repeat(64) }), /expected 0000/],
    [
      "gzip that is cut off",
      rpmMd([], { body: new Uint8Array(gzipSync(primaryXmlOf(["a-other-1"]))).subarray(0, 90) }),
      /gzip/,
    ],
    ["a package of too many files", rpmMd([manyFiles]), /more than 10000 files/],
    ["packages that are cut off", rpmMd([], { primary: primaryXmlOf(["a-other-1"]).slice(0, -20) }), /ends before/],
    [
      "XML that is not well-formed",
      rpmMd([], { primary: primaryXmlOf(["a-other-1", "b-other-1"]).replace("</summary>", "</b>") }),
      /./,
    ],
    ["a decompression bomb", rpmMd([], { body: zeros }), /./],
    ["an entity bomb", rpmMd([], { primary: `<!DOCTYPE m [<!ENTITY e "ha">]>${primaryXmlOf(["a-other-1"])}` }), /./],
    ["a package outside the repository", rpmMd([], { primary: pathTrick }), /leaves the repository/],
    [
      "xz that is damaged",
      rpmMd([], { body: new Uint8Array([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2, 3, 4]), suffix: "xml.xz" }),
      /./,
    ],
  ])("stores nothing of %s", async (_, files, problem) => {
    await repository.importFiles(files);
    expect(await repository.row()).toMatchObject({
      importState: "failed",
      revision: null,
      problem: expect.stringMatching(problem),
    });
    expect(await repository.leftovers()).toEqual({ imports: 0, rows: 0 });
  });

  it("keeps the last good revision, and stores the reason", async () => {
    await repository.importFiles(good);
    const before = await repository.row();
    await repository.importFiles(rpmMd(["a-other-1"], { checksum: "0".repeat(64) }));

    const checked = { checkId: expect.any(String), checkedAt: expect.any(Date) };
    expect(await repository.row()).toEqual({ ...before, ...checked, problem: expect.stringMatching(/expected/) });
    expect(await repository.names()).toEqual(["a-good"]);
    expect(await repository.leftovers()).toEqual({ imports: 1, rows: 1 });
  });

  it("forgets the problem when the mirror works again", async () => {
    await repository.importFiles(good);
    await repository.importFiles({});
    await repository.importFiles(good);
    expect((await repository.row()).problem).toBeNull();
  });

  it.each<[string, Fetch, RegExp]>([
    ["does not answer", () => Promise.reject(new Error("refused")), /cannot be reached/],
    ["answers 503", async () => new Response("busy", { status: 503 }), /answered 503/],
    ["redirects in a circle", async (to) => Response.redirect(to, 302), /redirects too often/],
  ])("keeps the last good revision of a mirror that %s", async (_, fetchOutside, problem) => {
    await repository.importFiles(good);
    await repository.importFrom({ fetchOutside });

    expect(await repository.row()).toMatchObject({ importState: "ready", problem: expect.stringMatching(problem) });
    expect(await repository.names()).toEqual(["a-good"]);
  });

  it("does not follow a redirect to a private address in production", async () => {
    const asked: string[] = [];
    const fetchOutside: Fetch = async (to) => {
      asked.push(to);
      return Response.redirect("http://169.254.169.254/latest/", 302);
    };
    await importRepository({ env: { ...env, MODE: "cloudflare" }, db: openDatabase(env) }, repository.id, {
      fetchOutside,
    });

    expect(await repository.row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/must not connect to http:\/\/169\.254\.169\.254/),
    });
    expect(asked).toEqual([`${repository.url}/repodata/repomd.xml`]);
  });

  it("stores nothing if the mirror breaks off", async () => {
    await repository.importFrom({ fetchOutside: breaking });

    expect(await repository.row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/was interrupted|damaged/),
    });
    expect(await repository.leftovers()).toEqual({ imports: 0, rows: 0 });
  });
});

describe("an import's signature", () => {
  const signed = {
    "repodata/repomd.xml": signedRepomd,
    "repodata/repomd.xml.key": tinyKey,
    "repodata/repomd.xml.asc": tinySignature,
  };

  it("is required once the repository had one", async () => {
    await env.DB.prepare("UPDATE repositories SET signer = ? WHERE id = ?").bind("ABCD", repository.id).run();
    await repository.importFiles(good);
    expect(await repository.row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/not signed by the key/),
    });
  });

  it("is refused if it is of another index", async () => {
    await repository.importFiles({ ...signed, ...good });
    expect(await repository.row()).toMatchObject({
      importState: "failed",
      problem: expect.stringMatching(/signature/),
    });
  });
});

describe("an index that exceeds the import limits", () => {
  const limits = { ...importLimits };
  afterEach(() => void Object.assign(importLimits, limits));

  it.each([
    ["packages", { packages: 2 }, "it has more than 2 packages"],
    ["texts", { bytes: 2 ** 20 }, "it has more than 1 MB of names and descriptions"],
  ])("is refused for its %s, without leftovers", async (_, lower, problem) => {
    Object.assign(importLimits, lower);
    const long = primaryXmlOf(["a-one-1", "b-two-1", "c-three-1"]).replaceAll(
      "<summary>",
      `<summary>${"x".repeat(2 ** 19)}`,
    );
    await repository.importFiles(rpmMd([], { primary: long }));
    expect(await repository.row()).toMatchObject({ importState: "failed", problem });
    expect(await repository.leftovers()).toEqual({ imports: 0, rows: 0 });
  });
});
