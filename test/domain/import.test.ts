import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { packed } from "../fixtures/repodata/packed.ts";
import { solverOf } from "../support/imported.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { newRepository, type TestRepository } from "../support/test-repository.ts";

let repository: TestRepository;
beforeEach(async () => {
  repository = await newRepository();
});

describe("an import", () => {
  it("stores packages, parts and facts together", async () => {
    await repository.importFiles(rpmMd(["vim-data-9.1", "vim-small-2:9.1-3.i586 requires vim-data"]));

    expect(await repository.row()).toMatchObject({
      importState: "ready",
      problem: null,
      type: "rpm-md",
      packageCount: 2,
      arches: ["x86_64", "i586"],
      baseSystem: "other",
      signer: null,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await repository.names()).toEqual(["vim-data", "vim-small"]);
  });

  it("stores parts that the solver can load", async () => {
    await repository.importFiles(rpmMd(["vim-small-2:9.1-3 requires vim-data", "vim-data-9.1"]));

    const resolution = (await solverOf(await repository.row())).solve([{ kind: "install", name: "vim-small" }]);
    expect(resolution.state === "solved" && resolution.packages.map(({ name }) => name)).toEqual([
      "vim-data",
      "vim-small",
    ]);
  });

  it("does nothing while the index has not changed", async () => {
    const mirror = mirrorOf({ [repository.url]: rpmMd(["a-one-1"]) });
    await repository.importFrom(mirror);
    const { importId } = await repository.row();
    mirror.asked.length = 0;

    await repository.importFrom(mirror);

    expect(mirror.asked.filter((one) => one.includes("primary"))).toEqual([]);
    expect((await repository.row()).importId).toBe(importId);
  });

  it("replaces the rows of the previous revision", async () => {
    await repository.importFiles(rpmMd(["a-one-1", "a-two-1"]));
    await repository.importFiles(rpmMd(["a-two-1", "a-three-1"]));

    expect(await repository.names()).toEqual(["a-three", "a-two"]);
    expect((await repository.leftovers()).rows).toBe(2);
    // Throws if the trigram index differs from the rows.
    await env.PACKAGES.prepare("INSERT INTO packages_fts(packages_fts, rank) VALUES ('integrity-check', 1)").run();
  });

  it("stores each package once, even if it runs simultaneously", async () => {
    const files = rpmMd(["a-one-1", "a-two-1"]);
    await Promise.all([repository.importFiles(files), repository.importFiles(files), repository.importFiles(files)]);

    expect((await repository.row()).importState).toBe("ready");
    expect(await repository.names()).toEqual(["a-one", "a-two"]);
    expect(await repository.leftovers()).toEqual({ imports: 1, rows: 2 });
  });

  it("follows a mirror's redirects", async () => {
    const { fetchOutside } = mirrorOf({ "http://near.example.org": rpmMd(["a-one-1"]) });
    await repository.importFrom({
      fetchOutside: async (to) =>
        to.startsWith(repository.url)
          ? Response.redirect(to.replace(repository.url, "http://near.example.org"), 302)
          : fetchOutside(to),
    });
    expect(await repository.names()).toEqual(["a-one"]);
  });

  it("reads a large list in chunks, and stores one part", async () => {
    const many = Array.from({ length: 12_000 }, (_, nth) => `many${nth}-1`);
    await repository.importFiles(rpmMd(many));

    expect(await repository.row()).toMatchObject({ packageCount: 12_000, parts: [expect.any(String)] });
    const solver = await solverOf(await repository.row());
    for (const name of ["many0", "many11999"]) expect(solver.info(name)).toMatchObject({ name, version: "1" });
    expect((await repository.leftovers()).rows).toBe(12_000);
  });

  it.each(["xz", "bz2"] as const)("decompresses %s with the solver's own decoder", async (suffix) => {
    const body = Uint8Array.from(Buffer.from(packed[suffix], "base64"));
    await repository.importFiles(rpmMd([], { body, suffix: `xml.${suffix}` }));
    expect(await repository.row()).toMatchObject({ problem: null, importState: "ready" });
    expect(await repository.names()).toEqual(["a-packed"]);
  });

  it("accepts an empty repository", async () => {
    await repository.importFiles(rpmMd([]));
    expect(await repository.row()).toMatchObject({ importState: "ready", packageCount: 0, parts: [] });
  });
});
