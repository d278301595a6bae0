import { describe, expect, it } from "vitest";
import type { Arch, Capabilities, ImageType } from "#lib/contract/index";
import { chooseImageType, chooseVersion, obstacleTo, type BuildRequest } from "#domain/builds/request";
import { Refusal } from "#domain/refusal";
import { raiseRelease } from "#domain/version";
import type { BaseSystemFacts } from "#model/catalogue";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { capabilities } from "../support/fake-agent.ts";

// The rules read only a few columns of wide rows. These objects have only those columns.
const appliance = { version: "0.0.3", imageType: "oem", arch: "x86_64" } as Appliance;
const base = { cannot: { ec2: "Nobody has tried it." } } as unknown as BaseSystemFacts;
const subject = { appliance, base };
const request: BuildRequest = {
  applianceId: 1,
  force: false,
  multi: false,
  allowedTypes: ["oem", "iso", "vmx", "ec2"],
  baseUrl: "https://kiln.test",
};

const build = (words: string): Build => {
  const [version, imageType, status, expired] = words.split(" ");
  return { version, imageType, status, expiredAt: expired === undefined ? null : new Date() } as Build;
};
const agentWith = (...imageTypes: ImageType[]): Capabilities => ({ ...capabilities, imageTypes });

function codeOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof Refusal ? error.code : error;
  }
}

describe("chooseVersion", () => {
  const built = ["0.0.2 oem failed", "0.0.1 oem finished"].map(build);

  it.each([
    ["the configuration's version by default", {}, "0.0.3"],
    ["the latest finished version with multi", { multi: true }, "0.0.1"],
    ["the requested version, even with multi", { version: "0.0.3", multi: true }, "0.0.3"],
    ["an earlier version that has a build", { version: "0.0.2" }, "0.0.2"],
    ["no version that it never had", { version: "0.0.4" }, "invalid_version"],
    ["no malformed version", { version: "latest" }, "invalid_version"],
  ])("takes %s", (_what, asked, expected) => {
    expect(codeOf(() => chooseVersion(appliance, built, { ...request, ...asked }))).toBe(expected);
  });

  it("takes the version in progress with multi, so other formats can wait", () => {
    const begun = ["0.0.3 oem queued", "0.0.2 oem failed", "0.0.1 oem finished"].map(build);
    expect(chooseVersion(appliance, begun, { ...request, multi: true })).toBe("0.0.3");
    expect(chooseVersion(appliance, begun.slice(1), { ...request, multi: true })).toBe("0.0.1");
  });

  it("takes the configuration's version with multi if no build has finished", () => {
    expect(chooseVersion(appliance, [build("0.0.2 oem failed")], { ...request, multi: true })).toBe("0.0.3");
  });
});

describe("chooseImageType", () => {
  it.each([
    ["the configuration's type by default", undefined, [], "oem"],
    ["any type before a builder has reported its capabilities", "vmx", [], "vmx"],
    ["no type if the builders support none", "oem", [agentWith()], "configuration_error"],
    ["a type that a builder supports", "vmx", [agentWith("vmx")], "vmx"],
    ["a type that one of several builders supports", "iso", [agentWith("oem"), agentWith("iso")], "iso"],
    ["no type that no builder supports", "oem", [agentWith("iso")], "configuration_error"],
    ["no type that this version of the API lacks", "net", [agentWith("net")], "invalid_image_type"],
    ["no unknown type", "floppy", [], "invalid_image_type"],
    ["no type that its base system cannot have", "ec2", [agentWith("ec2")], "invalid_image_type"],
  ])("takes %s", (_what, imageType, agents, expected) => {
    expect(codeOf(() => chooseImageType(subject, agents, { ...request, imageType }))).toBe(expected);
  });
});

const choosingVmx = (can: Partial<Capabilities>, arch: Arch = "x86_64") => {
  const agents = [{ ...capabilities, ...can }];
  return () => chooseImageType({ base, appliance: { ...appliance, arch } }, agents, { ...request, imageType: "vmx" });
};

describe("an image type that no builder supports for the appliance's architecture", () => {
  it.each<[string, Partial<Capabilities>, Arch, string]>([
    [
      "names the missing program for the type",
      { imageTypes: ["oem"], lacking: { vmx: "qemu-img" } },
      "x86_64",
      "No builder of this service can build vmx images for x86_64. They lack: qemu-img. They can build oem for x86_64.",
    ],
    [
      "names the missing feature for the architecture",
      { imageTypes: ["vmx"], lacking: { i586: "32-bit programs" } },
      "i586",
      "No builder of this service can build vmx images for i586. They lack: 32-bit programs. They can build vmx for x86_64.",
    ],
    [
      "names nothing missing if the builder reports nothing",
      { imageTypes: ["oem"] },
      "x86_64",
      "No builder of this service can build vmx images for x86_64. They can build oem for x86_64.",
    ],
  ])("%s", (_what, can, arch, message) => {
    expect(choosingVmx(can, arch)).toThrow(message);
  });

  it("is refused if one builder has the type and another the architecture", () => {
    const agents: Capabilities[] = [agentWith("oem"), { ...capabilities, arches: ["i586"], imageTypes: ["vmx"] }];
    const act = () => chooseImageType(subject, agents, { ...request, imageType: "vmx" });
    expect(codeOf(act)).toBe("configuration_error");
  });
});

describe("obstacleTo", () => {
  const wanted = { version: "0.0.1", imageType: "oem" } as const;

  it.each([
    ["no build", [], false, undefined],
    ["a finished build of the type", ["0.0.1 oem finished"], false, "image_already_exists"],
    ["a finished build of the type whose image has expired", ["0.0.1 oem finished expired"], false, undefined],
    [
      "a later build if the first image has expired",
      ["0.0.1 iso queued", "0.0.1 vmx finished expired"],
      false,
      undefined,
    ],
    ["a running build of the type", ["0.0.1 oem running"], false, "image_already_exists"],
    ["a running build of the type, with force", ["0.0.1 oem running"], true, undefined],
    ["failed and cancelled builds of the type", ["0.0.1 oem failed", "0.0.1 oem cancelled"], false, undefined],
    ["a first build of another type", ["0.0.1 iso queued"], false, "initial_build_pending"],
    ["a first build of another type, even with force", ["0.0.1 iso queued"], true, "initial_build_pending"],
    ["another type's first build, with one finished", ["0.0.1 iso queued", "0.0.1 vmx finished"], false, undefined],
    ["builds of another version", ["0.0.2 oem finished", "0.0.2 iso running"], false, undefined],
  ])("is found, or not, in %s", (_what, built, force, expected) => {
    expect(obstacleTo(wanted, built.map(build), { force })?.code).toBe(expected);
  });
});

describe("raiseRelease", () => {
  it.each([
    ["0.0.1", "0.0.2"],
    ["1.2.9", "1.2.10"],
    ["0.0.9999", "0.1.0"],
    ["7.9999.9999", "8.0.0"],
    ["9999.9999.9999", "9999.9999.9999"],
  ])("turns %s into %s", (version, next) => {
    expect(raiseRelease(version)).toBe(next);
  });
});
