import { describe, expect, it } from "vitest";
import { type ListedPackage, jsonBatches, searchRow } from "#lib/repodata/search-rows";
import { bytesOf, expectFault } from "./support.ts";

const listed: ListedPackage = {
  name: "patterns-base",
  epoch: 1,
  version: "2.0",
  release: "3",
  arch: "noarch",
  pattern: "base",
  summary: "Base",
  description: "A base",
  downloadSizeBytes: 10,
  installSizeBytes: 20,
  checksum: { type: "sha256", value: "AB".repeat(32) },
  location: "./noarch/patterns-base-2.0-3.noarch.rpm",
};

describe("searchRow", () => {
  it("takes over the pool's fields, with checked location and checksum", () => {
    expect(searchRow(listed)).toEqual({
      name: "patterns-base",
      epoch: 1,
      version: "2.0",
      release: "3",
      arch: "noarch",
      pattern: "base",
      summary: "Base",
      description: "A base",
      sizeBytes: 10,
      installedBytes: 20,
      checksum: { type: "sha256", hex: "ab".repeat(32) },
      location: "noarch/patterns-base-2.0-3.noarch.rpm",
    });
  });

  it("refuses a package that could not be downloaded or verified", async () => {
    const { checksum: _, ...unchecked } = listed;
    const { location: __, ...lost } = listed;
    await expectFault(() => searchRow(unchecked), "malformed_metadata", /patterns-base-2\.0-3\.noarch/);
    await expectFault(() => searchRow(lost), "malformed_metadata");
    await expectFault(() => searchRow({ ...listed, location: "../../x.rpm" }), "forbidden_location");
  });
});

describe("jsonBatches", () => {
  it("packs as many rows as fit, in order, without losing any", () => {
    const rows = Array.from({ length: 50 }, (_, index) => [`name-${index}`, "ä".repeat(index)]);
    const batches = [...jsonBatches(rows, () => 300)];
    expect(batches.length).toBeGreaterThan(5);
    for (const batch of batches) expect(bytesOf(batch).byteLength).toBeLessThanOrEqual(300);
    expect(batches.flatMap((batch) => JSON.parse(batch) as unknown[])).toEqual(rows);
  });

  it("gives a too large row its own batch, and none without rows", () => {
    expect([...jsonBatches(["x".repeat(100), "y"], () => 20)]).toHaveLength(2);
    expect([...jsonBatches([], () => 20)]).toEqual([]);
  });
});
