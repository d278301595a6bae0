import { describe, expect, it } from "vitest";
import type { Capabilities } from "#contract/index";
import { canDo, whyNoPackages } from "#domain/builds/builder-abilities";
import { capabilities } from "../support/fake-agent.ts";

const { packageTypes: both, ...older } = capabilities;
const agent = (can: Partial<Capabilities> = {}): Capabilities => ({ ...older, ...can });

describe("a build of deb packages", () => {
  const build = { imageType: "oem", arch: "x86_64", needsLvm: false, needsEfi: false } as const;

  it("goes only to a builder that says it installs them", () => {
    expect(canDo(capabilities, { ...build, packageType: "deb" })).toBe(true);
    expect(canDo({ ...capabilities, packageTypes: ["rpm"] }, { ...build, packageType: "deb" })).toBe(false);
    expect(canDo(older, { ...build, packageType: "deb" }), "an older builder").toBe(false);
    expect(canDo(older, { ...build, packageType: "rpm" })).toBe(true);
  });
});

describe("whyNoPackages", () => {
  it.each([
    ["no builder has said what it builds", []],
    ["one of several builds them", [agent(), agent({ packageTypes: both })]],
  ])("is undefined if %s", (_what, agents) => {
    expect(whyNoPackages(agents, "deb")).toBeUndefined();
  });

  it("names what is missing", () => {
    const lacking = agent({ packageTypes: ["rpm"], noDeb: "debootstrap, dpkg-deb" });
    expect(whyNoPackages([lacking, lacking], "deb")).toBe(
      "No builder of this service can build systems of deb packages. Missing there: debootstrap, dpkg-deb.",
    );
    expect(whyNoPackages([agent()], "deb")).toBe("No builder of this service can build systems of deb packages.");
    expect(whyNoPackages([lacking], "rpm")).toBeUndefined();
  });
});
