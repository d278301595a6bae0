import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { imageTypes as every } from "../../src/contract.ts";
import { fine, isPossible } from "../../src/doctor/check.ts";
import { abilitiesIn, checkRoots, summaryOf } from "../../src/doctor/roots.ts";
import { storeAnsweringRoot, storeFakeRoot } from "../support/fake-root.ts";

/** Not below /dev, because a root sees the host's /dev. */
function stateDir(): string {
  const dir = mkdtempSync("/var/tmp/kiln-roots-");
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, "state");
}

const configOf = (dir: string) =>
  ({
    stateDir: dir,
    isolation: "none",
    accel: "tcg",
    vnc: null,
    minFreeGb: 0,
    root: "host",
    emulation: "off",
  }) as const;
const common = [fine("root", "yes")];

describe("the builder roots of an agent", () => {
  it("build what their own tools can make, with their own KIWI", async () => {
    const dir = stateDir();
    storeAnsweringRoot(dir, "whole");
    const [whole] = await checkRoots(configOf(dir));
    if (!whole) throw new Error("there is no root");
    expect(abilitiesIn(whole, common)).toEqual({
      name: "whole",
      sha256: whole.root.sha256,
      builder: "9.24.56",
      imageTypes: [...every],
      packageTypes: ["rpm", "deb"],
    });
    expect(summaryOf(whole)).toMatchObject({ name: "builder root whole", state: "ok" });
  });

  it("build nothing that they lack a tool for", async () => {
    const dir = stateDir();
    storeAnsweringRoot(dir, "small", { without: ["xorriso", "debootstrap"] });
    const [small] = await checkRoots(configOf(dir));
    if (!small) throw new Error("there is no root");
    const { imageTypes, packageTypes } = abilitiesIn(small, common);
    expect(imageTypes).toEqual(every.filter((type) => type !== "iso" && type !== "oemiso"));
    expect(packageTypes).toEqual(["rpm"]);
    expect(isPossible("testdrives", small.report), "that is this host's business").toBe(true);
  });

  it("build nothing if KIWI does not start in them, with its last words", async () => {
    const dir = stateDir();
    storeAnsweringRoot(dir, "broken", { kiwi: "echo no such module >&2; exit 1" });
    const [broken] = await checkRoots(configOf(dir));
    if (!broken) throw new Error("there is no root");
    expect(abilitiesIn(broken, common).imageTypes).toEqual([]);
    expect(summaryOf(broken)).toMatchObject({ state: "degraded", detail: "no such module" });
  });

  it("build nothing if their file is damaged, and the report says how to make them again", async () => {
    const dir = stateDir();
    storeFakeRoot(dir, { name: "debian-13", sha256: "a".repeat(64) });
    const [damaged] = await checkRoots(configOf(dir));
    if (!damaged) throw new Error("there is no root");
    expect(abilitiesIn(damaged, common).imageTypes).toEqual([]);
    expect(summaryOf(damaged)).toMatchObject({
      state: "degraded",
      detail: "its file is damaged, so nothing is built in it",
      disables: [],
      fix: "npm run agent -- root make debian-13",
    });
  });
});
