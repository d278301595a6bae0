import { describe, expect, it } from "vitest";
import type { Capabilities, RootAbilities } from "#lib/contract/index";
import { canDo, reasonNotBuilt } from "#domain/builds/builder-abilities";
import { capabilities } from "../support/fake-agent.ts";

const { packageTypes: both, ...older } = capabilities;
const agent = (can: Partial<Capabilities> = {}): Capabilities => ({ ...older, ...can });

const root = (more: Partial<RootAbilities> = {}): RootAbilities => ({
  name: "debian-13",
  sha256: "a".repeat(64),
  builder: "9.24.56",
  imageTypes: ["oem"],
  packageTypes: ["rpm", "deb"],
  ...more,
});

describe("a build of deb packages", () => {
  const build = { imageType: "oem", arch: "x86_64", needsLvm: false, needsEfi: false, fileSystem: "ext4" } as const;

  it("goes only to a builder that reports that it installs them", () => {
    expect(canDo(capabilities, { ...build, packageType: "deb" })).toBe(true);
    expect(canDo({ ...capabilities, packageTypes: ["rpm"] }, { ...build, packageType: "deb" })).toBe(false);
    expect(canDo(older, { ...build, packageType: "deb" }), "an older builder").toBe(false);
    expect(canDo(older, { ...build, packageType: "rpm" })).toBe(true);
  });
});

describe("a build in a builder root", () => {
  const build = {
    imageType: "oem",
    arch: "x86_64",
    needsLvm: false,
    needsEfi: false,
    fileSystem: "ext4",
    packageType: "rpm",
  } as const;
  const inRoot = { ...build, builderRoot: "debian-13" };

  it("goes only to a builder that has the root, and can do it in there", () => {
    expect(canDo(agent(), inRoot)).toBe(false);
    expect(canDo(agent({ roots: [root({ name: "debian-12" })] }), inRoot)).toBe(false);
    expect(canDo(agent({ roots: [root({ imageTypes: ["iso"] })] }), inRoot)).toBe(false);
    expect(canDo(agent({ roots: [root({ packageTypes: ["deb"] })] }), inRoot)).toBe(false);
    const elsewhereNothing = agent({ imageTypes: [], roots: [root()] });
    expect(canDo(elsewhereNothing, inRoot)).toBe(true);
    expect(canDo(elsewhereNothing, { ...build, builderRoot: null })).toBe(false);
  });

  it("is refused with the reason if no builder has the root", () => {
    const base = { packageType: "rpm", builderRoot: "debian-13" } as const;
    expect(reasonNotBuilt([agent(), agent({ roots: [root()] })], base)).toBeUndefined();
    expect(reasonNotBuilt([agent()], base)).toBe(
      "This system is built in the builder root debian-13, which no builder of this service has.",
    );
    expect(reasonNotBuilt([], base), "none has said what it builds").toBeUndefined();
  });
});

describe("reasonNotBuilt", () => {
  it.each([
    ["no builder has said what it builds", []],
    ["one of several builds them", [agent(), agent({ packageTypes: both })]],
  ])("is undefined if %s", (_what, agents) => {
    expect(reasonNotBuilt(agents, { packageType: "deb" })).toBeUndefined();
  });

  it("names what is missing", () => {
    const lacking = agent({ packageTypes: ["rpm"], noDeb: "debootstrap, dpkg-deb" });
    expect(reasonNotBuilt([lacking, lacking], { packageType: "deb" })).toBe(
      "No builder of this service can build systems from deb packages. They lack: debootstrap, dpkg-deb.",
    );
    expect(reasonNotBuilt([agent()], { packageType: "deb" })).toBe(
      "No builder of this service can build systems from deb packages.",
    );
    expect(reasonNotBuilt([lacking], { packageType: "rpm" })).toBeUndefined();
  });
});
