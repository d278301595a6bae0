import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { versionRelease } from "#lib/contract/index";
import { NameIndex, NameIndexWriter } from "#domain/repositories/name-index";
import { importRepository } from "#domain/repositories/import";
import { getSearched, searchSoftware, type SearchedAppliance } from "#domain/repositories/search";
import { openDatabase } from "#storage/db";
import { searchPackages } from "#storage/packages";
import { signedIn, type Client } from "../support/client.ts";
import { counting } from "../support/counting.ts";
import { createAppliance } from "../support/factories.ts";
import { publish, rpmMd } from "../support/mirror.ts";
import { tinyRepository } from "../support/repositories.ts";

const db = openDatabase(env);
let tux: Client;
let appliance: SearchedAppliance;
let repositoryIds: number[];

/** Every two-letter name of a few letters, alone and within other names, in several versions and architectures. */
const letters = ["a", "b", "L", "l", "-", "_"];
const pairs = letters.flatMap((one) => letters.map((other) => `${one}${other}`)).filter((name) => /^\w/.test(name));
const names = pairs.flatMap((pair) => [pair, `lib${pair}`, `${pair}-devel`, `x${pair}x`, `Z${pair.toUpperCase()}`]);
const arches = ["noarch", "x86_64", "i686", "aarch64"];

beforeAll(async () => {
  tux = await signedIn();
  const id = await createAppliance(tux); // fills the repositories, without rows
  const main = [...new Set(names)].flatMap((name, nth) => [
    `${name}-1.${nth}-2.${arches[nth % 4]}`,
    ...(nth % 5 === 0 ? [`${name}-0.${nth}-1.${arches[nth % 4]}`] : []),
  ]);
  await publish("tiny/main", rpmMd([...main, "patterns-x-1-1.noarch provides pattern() = all_labs"]));
  const updates = [...new Set(names)].filter((_name, nth) => nth % 3 === 0).map((name) => `${name}-9-1.noarch`);
  await publish("tiny/updates", rpmMd(updates));
  repositoryIds = [await tinyRepository("main"), await tinyRepository("updates")];
  for (const one of repositoryIds) await importRepository({ env, db }, one);
  appliance = await getSearched(db, tux.accountId, id);
});

interface Shown {
  repository: number;
  name: string;
  version: string;
  arch: string;
  checksum: string;
}

const order = (found: Shown[]): Shown[] => repositoryIds.flatMap((id) => found.filter((one) => one.repository === id));

/** The hits of a search in the index of names. */
async function byIndex(q: string, limit: number): Promise<Shown[]> {
  const asked = { q, allFields: false, limit, detailed: false };
  const { repositories } = await searchSoftware({ env, db }, appliance, asked);
  const all = repositories.flatMap(({ id, packages, patterns }) => [
    ...packages.map(({ name, version, release, arch, checksum }) => ({
      repository: id,
      name,
      version: versionRelease({ version, release }),
      arch,
      checksum: `${checksum?.type} ${checksum?.value}`,
    })),
    ...patterns.map(({ name, version, arch }) => ({ repository: id, name, version, arch, checksum: "pattern" })),
  ]);
  return order(all);
}

/** The same answer from the database, which reads every name. */
async function byDatabase(q: string, limit: number): Promise<Shown[]> {
  const wanted = ["noarch", "i386", "i486", "i586", "i686", "x86_64"];
  const found = await searchPackages(db, { repositories: appliance.repositories, arches: wanted, q, limit });
  const shown = found.map(({ repositoryId, name, version, release, arch, pattern, ...one }) => ({
    repository: repositoryId,
    name: pattern ?? name,
    version: `${version}-${release}`,
    arch,
    checksum: pattern === null ? `${one.checksumType} ${one.checksum}` : "pattern",
  }));
  return order([
    ...shown.filter(({ checksum }) => checksum !== "pattern"),
    ...shown.filter(({ checksum }) => checksum === "pattern"),
  ]);
}

describe("a search in the index of names", () => {
  const texts = [...letters, ...pairs, "lib", "liba", "a-devel", "A-", "xabx", "zz", "labs", "patterns", "é", "%"];

  it.each([1, 3, 25, 1000])("shows what a search in the database shows, at most %i hits", async (limit) => {
    for (const q of texts) expect(await byIndex(q, limit), q).toEqual(await byDatabase(q, limit));
  });

  it("does not ask the database for names", async () => {
    const { env: counted, calls } = counting(env);
    const request = { q: "la", allFields: false, limit: 9 };
    const seen = await searchSoftware({ env, db: openDatabase(counted) }, appliance, { ...request, detailed: false });

    expect(seen.repositories).not.toEqual([]);
    expect(calls.filter((call) => call.startsWith("PACKAGES"))).toEqual([]);
  });
});

const one = { id: 7, name: "Gtk", version: "3-1", arch: "noarch", checksumType: "sha256", checksum: "ab".repeat(32) };

const written = (packages: Parameters<NameIndexWriter["add"]>[0]) => {
  const writer = new NameIndexWriter();
  writer.add(packages);
  return writer.written();
};

describe("the file of an index", () => {
  it("has checksums of several types, and packages without one", () => {
    const packages = [
      { ...one, pattern: "" },
      { ...one, id: 8, checksumType: "sha1", checksum: "cd".repeat(20), pattern: "" },
      { ...one, id: 9, checksumType: "", checksum: "", pattern: "desk" },
      { ...one, id: 10, name: "grüße", pattern: "" },
    ];
    const index = new NameIndex(written(packages) ?? expect.fail("not written"));

    expect(packages.map((_one, row) => index.package(row))).toEqual(packages);
    const rows = (needle: string) =>
      index.search({ needle, arches: new Set(["noarch"]), limit: 9 }, 1).map((hits) => hits.map(({ row }) => row));
    expect(rows("gtk")).toEqual([[0, 1, 2], [], [], []]);
    expect(rows("üß")).toEqual([[], [], [3], []]);
    expect(rows("desk")).toEqual([[], [], [], [2]]);
  });

  it("is not written for more architectures than any distribution has", () => {
    const packages = Array.from({ length: 300 }, (_, nth) => ({ ...one, arch: `arch${nth}`, pattern: "" }));
    expect(written(packages)).toBeUndefined();
  });

  it("is not written for ids that do not fit into 32 bits", () => {
    expect(written([{ ...one, id: 2 ** 32 - 1, pattern: "" }])).toBeDefined();
    expect(written([{ ...one, id: 2 ** 32, pattern: "" }])).toBeUndefined();
  });

  it("may be empty", () => {
    const index = new NameIndex(written([]) ?? expect.fail("not written"));
    expect(index.search({ needle: "a", arches: new Set(["noarch"]), limit: 9 }, 1).flat()).toEqual([]);
  });
});
