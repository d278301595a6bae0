import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { impossible, packagesFor, purposes } from "../../scripts/launch/host-packages.ts";
import { inputsHash } from "../../scripts/launch/inputs-hash.ts";
import { emptyFolder } from "./folder.ts";

describe("impossible", () => {
  it("lists exactly what a missing package makes impossible", () => {
    const xorriso = { tool: "xorriso", debian: "xorriso", suse: "xorriso", fedora: "xorriso", for: ["iso"], why: "" };
    expect(impossible([xorriso], ["oem", "iso", "testdrives"])).toEqual(["iso"]);
    expect(impossible([], ["oem", "iso", "testdrives"])).toEqual([]);
  });
});

describe("packagesFor", () => {
  it.each(purposes)("lists packages for %s", (purpose) => {
    expect(packagesFor([purpose]).every((each) => each.for.includes(purpose))).toBe(true);
    expect(packagesFor([purpose])).not.toEqual([]);
  });
});

describe("inputsHash", () => {
  it("changes only with a name or a content", () => {
    const [one, other] = [emptyFolder(), emptyFolder()];
    for (const root of [one, other]) {
      mkdirSync(`${root}/src/deep`, { recursive: true });
      writeFileSync(`${root}/src/deep/a.ts`, "a");
    }
    const before = inputsHash(one, ["src", "absent"]);
    expect(inputsHash(other, ["src"])).toBe(before);
    writeFileSync(`${other}/src/deep/a.ts`, "b");
    expect(inputsHash(other, ["src"])).not.toBe(before);
    writeFileSync(`${one}/src/b.wasm`, "made by the build");
    expect(inputsHash(one, ["src"], (path) => !path.endsWith(".wasm"))).toBe(before);
  });
});
