import { describe, expect, it } from "vitest";
import { packagesOfSettings, type SettingOfBase, settingsOfBaseIssues } from "#domain/configuration/settings-of-base";
import type { BaseSystemFacts } from "#model/catalogue";

const none = { firstBoot: "none" } as const;
const cloudInit = { firstBoot: "cloud-init" } as const;
const oem = { imageType: "oem" } as const;

const tiny: Pick<BaseSystemFacts, "title" | SettingOfBase> = { title: "Tiny Linux" };
const debian = { title: "Debian 12", firstBoot: { "cloud-init": ["cloud-init", "sudo"] } };

describe("a setting that needs packages of the base system", () => {
  it.each([
    [none, []],
    [cloudInit, ["cloud-init", "sudo"]],
  ])("adds them to the image: %j", (settings, packages) => {
    expect(packagesOfSettings(debian, { ...oem, settings })).toEqual(packages);
    expect(settingsOfBaseIssues({ ...oem, settings, baseSystem: debian })).toEqual([]);
  });

  it("is an error without them, with a button that does without", () => {
    const text = "The first boot must be none, because Kiln knows no packages of Tiny Linux for cloud-init.";
    const setting = { path: "settings/first_boot", value: "none", words: "Use no cloud-init" };
    const issues = settingsOfBaseIssues({ imageType: "iso", settings: cloudInit, baseSystem: tiny });
    expect(issues).toEqual([{ type: "error", text, setting }]);
    expect(packagesOfSettings(tiny, { ...oem, settings: cloudInit })).toEqual([]);
  });

  it("is no problem if nothing is chosen, or if no catalogue has the base system now", () => {
    expect(settingsOfBaseIssues({ ...oem, settings: none, baseSystem: tiny })).toEqual([]);
    expect(settingsOfBaseIssues({ ...oem, settings: cloudInit, baseSystem: undefined })).toEqual([]);
  });

  it.each(["iso", "net", "oci"] as const)("leaves an image of the type %s as it is, and says so", (imageType) => {
    const issues = settingsOfBaseIssues({ imageType, settings: cloudInit, baseSystem: debian });
    expect(issues.map(({ type, text }) => [type, text])).toEqual([["warning", expect.stringContaining(imageType)]]);
    expect(packagesOfSettings(debian, { imageType, settings: cloudInit })).toEqual([]);
  });
});
