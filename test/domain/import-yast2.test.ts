import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { searchTexts } from "#storage/package-texts";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { solverOf } from "../support/imported.ts";
import { mirrorOf, type RepositoryFiles } from "../support/mirror.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);
const url = "http://mirror.example.org/halden";
const sha1 = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest("hex");
const gzipped = (text: string) => new Uint8Array(gzipSync(text));

const packages = gzipped(
  [
    "=Ver: 2.0",
    "##----------------------------------------",
    "=Pkg: a-lib 1.0 1 x86_64",
    "=Cks: SHA1 0123456789012345678901234567890123456789",
    "=Loc: 1 a-lib-1.0-1.x86_64.rpm x86_64",
    "=Siz: 100 200",
    "=Pkg: b-tool 2.0 1 x86_64",
    "=Cks: SHA1 1123456789012345678901234567890123456789",
    "+Req:\na-lib\n-Req:",
    "=Loc: 1 b-tool-2.0-1.x86_64.rpm x86_64",
    "=Siz: 10 20",
    "",
  ].join("\n"),
);
const english = gzipped("=Ver: 2.0\n=Pkg: a-lib 1.0 1 x86_64\n=Sum: The letter A\n+Des:\nIt is the first.\n-Des:\n");

const pattern = (name: string, requires: string) =>
  [
    "=Ver: 5.0",
    `=Pat: ${name} 12.1 3 x86_64`,
    `=Sum: The ${name} pattern`,
    "=Vis: true",
    `+Prq:\n${requires}\n-Prq:`,
    "",
  ].join("\n");
const folder = "suse/setup/descr";

/** The yast2 layout with these files in its descriptions folder; `announced` replaces their checksums in META. */
function halden(more: RepositoryFiles = {}, announced: Record<string, string | undefined> = {}): RepositoryFiles {
  const files: RepositoryFiles = { "packages.gz": packages, "packages.en.gz": english, ...more };
  const meta = Object.entries(files).flatMap(([name, body]) => {
    const checksum = name in announced ? announced[name] : sha1(typeof body === "string" ? bytesOf(body) : body);
    return checksum === undefined ? [] : [`META SHA1 ${checksum}  ${name}`];
  });
  return {
    content: [
      "LABEL Halden 12.1",
      "DISTRO cpe:/o:halden:halden:12.1,Halden 12.1",
      `DESCRDIR ${folder}`,
      "DATADIR suse",
      ...meta,
      "",
    ].join("\n"),
    ...Object.fromEntries(Object.entries(files).map(([name, body]) => [`${folder}/${name}`, body])),
  };
}

const lonePatterns: RepositoryFiles = {
  patterns: "base-12.1-3.x86_64.pat\nextra-12.1-3.x86_64.pat.gz\n",
  "base-12.1-3.x86_64.pat": pattern("base", "b-tool"),
  "extra-12.1-3.x86_64.pat.gz": gzipped(pattern("extra", "pattern:base")),
};

async function imported(files: RepositoryFiles, owner?: Client) {
  const { accountId } = owner ?? (await signedIn());
  const row = { accountId, name: "Halden", url, baseSystem: "other", type: "rpm-md" as const, arches: [] };
  const id = (await addRepository(db, row))?.id ?? 0;
  await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
  return { id, repository: await findRepository(db, id) };
}

it("imports a yast2 repository with its texts", async () => {
  const { id, repository } = await imported(halden());

  expect(repository).toMatchObject({ type: "yast2", importState: "ready", problem: null, packageCount: 2 });
  const found = await searchTexts(db, {
    arches: ["noarch", "x86_64", "i586"],
    repositories: [{ id, importId: repository?.importId ?? null }],
    q: "letter a",
    limit: 10,
  });
  expect(found).toMatchObject([{ name: "a-lib", version: "1.0", checksumType: "sha1" }]);
});

it("stores the locations of a yast2 repository's packages", async () => {
  const { repository } = await imported(halden());

  expect(repository?.packagesFolder).toBe("suse");
  const location = await env.PACKAGES.prepare("SELECT location FROM packages WHERE import_id = ? AND name = 'a-lib'")
    .bind(repository?.importId)
    .first("location");
  expect(location).toBe("suse/x86_64/a-lib-1.0-1.x86_64.rpm");
});

describe("patterns of a yast2 repository", () => {
  it.each<[string, RepositoryFiles]>([
    ["one file each, named by a list", lonePatterns],
    [
      "one file for all, even with a list",
      {
        ...lonePatterns,
        patterns: "gone.pat\n",
        "patterns.pat.gz": gzipped(pattern("base", "b-tool") + pattern("extra", "pattern:base").slice(10)),
      },
    ],
  ])("are found and install what they require: %s", async (_, files) => {
    const { id, repository } = await imported(halden(files));
    expect(repository).toMatchObject({ importState: "ready", problem: null, packageCount: 2 });

    const found = await searchTexts(db, {
      arches: ["noarch", "x86_64", "i586"],
      repositories: [{ id, importId: repository?.importId ?? null }],
      q: "pattern",
      limit: 10,
    });
    expect(found.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { name: "base", pattern: "base", version: "12.1", release: "3", arch: "x86_64", checksum: "" },
      { name: "extra", pattern: "extra" },
    ]);

    const solver = await solverOf(repository ?? expect.fail("the repository is gone"));
    expect(solver.solve([{ kind: "installPattern", name: "extra" }])).toMatchObject({
      state: "solved",
      packages: [{ name: "a-lib" }, { name: "b-tool" }],
    });
  });

  it("can be selected, and the API shows what they install", async () => {
    const tux = await signedIn();
    const { id } = await imported(halden(lonePatterns), tux);
    const applianceId = await createAppliance(tux);
    const path = `/appliances/${applianceId}`;
    await tux.post(`${path}/cmd/add_repository`, { repo_id: id });

    const added = await readXml(await tux.post(`${path}/cmd/add_pattern`, { name: "extra" }));
    const { software_map: map } = await readXml(await tux.get(`${path}/software/installed`));

    expect(added.success.details.status).toEqual({ state: "changed", packages_added: "2", packages_removed: "0" });
    const { software } = map.repository.find((one: { "@name": string }) => one["@name"] === "Halden");
    expect(software.package.map((one: { "#text": string }) => one["#text"])).toEqual(["a-lib", "b-tool"]);
    expect(software.pattern).toMatchObject({ "#text": "extra", "@version": "12.1-3" });
  });

  it.each<[string, RepositoryFiles, Record<string, string | undefined>, RegExp]>([
    ["a pattern has a wrong checksum", lonePatterns, { "base-12.1-3.x86_64.pat": "0".repeat(40) }, /expected 000/],
    ["the list has a wrong checksum", lonePatterns, { patterns: "0".repeat(40) }, /patterns: sha1 is/],
    ["a listed pattern has no checksum", lonePatterns, { "base-12.1-3.x86_64.pat": undefined }, /no checksum for base/],
    [
      "a pattern is not a pattern",
      { ...lonePatterns, "base-12.1-3.x86_64.pat": "<html></html>" },
      {},
      /does not begin with =Ver/,
    ],
    [
      "a pattern is a decompression bomb",
      { ...lonePatterns, "extra-12.1-3.x86_64.pat.gz": gzipped(pattern("x", "a-lib") + "\n".repeat(40 << 20)) },
      {},
      /more than/,
    ],
    ["there are thousands of them", { patterns: "a.pat\n".repeat(501) }, {}, /more than 500/],
  ])("cause the whole repository to be refused if %s", async (_, files, announced, problem) => {
    const { id, repository } = await imported(halden(files, announced));
    expect(repository).toMatchObject({ importState: "failed", parts: [], problem: expect.stringMatching(problem) });
    expect((await env.BLOBS.list({ prefix: `solv/${id}/` })).objects).toEqual([]);
  });
});

it("refuses the repository if its list of packages has a wrong checksum", async () => {
  const { repository } = await imported(halden({}, { "packages.gz": "0".repeat(40) }));
  expect(repository).toMatchObject({
    importState: "failed",
    revision: null,
    parts: [],
    problem: expect.stringMatching(/expected/),
  });
});
