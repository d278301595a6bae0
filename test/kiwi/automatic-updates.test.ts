import { describe, expect, it } from "vitest";
import { imageTypes, productOf } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";

const source = {
  url: "http://deb.example.org/debian",
  components: ["main"],
  isSigned: true,
  keys: [],
  isExpired: false,
};
const debian: ImageFacts["debian"] = {
  release: "bookworm",
  keys: [],
  sources: [
    { ...source, suite: "bookworm", isSecurity: false },
    { ...source, suite: "bookworm-security", isSecurity: true },
  ],
};

const configured = (settings: Partial<ImageFacts["settings"]>, change: Partial<ImageFacts> = {}) =>
  descriptionFiles({ ...plain, debian, settings: { ...plain.settings, ...settings }, ...change })[
    "root/etc/apt/apt.conf.d/95kiln-updates"
  ];
const originsIn = (text = "") => /Origins-Pattern \{\n([^}]*)\};/.exec(text)?.[1];

describe("an image that updates itself", () => {
  it("installs from the security suite alone", () => {
    const text = configured({ automaticUpdates: "security" });
    expect(originsIn(text)).toBe('  "codename=bookworm-security";\n');
    // Otherwise, the origins in the package's own file would stay.
    expect(text).toContain("\n#clear Unattended-Upgrade::Origins-Pattern;\n");
    expect(text).toContain('\nAPT::Periodic::Unattended-Upgrade "1";\n');
  });

  it("installs from all repositories if all updates are chosen", () => {
    expect(originsIn(configured({ automaticUpdates: "all" }))).toBe('  "origin=*";\n');
  });

  it("restarts only if there is a time for it", () => {
    expect(configured({ automaticUpdates: "security" })).toMatch(/Automatic-Reboot "false";\n$/);
    expect(configured({ automaticUpdates: "security", updatesRebootAt: "03:30" })).toMatch(
      /Automatic-Reboot "true";\nUnattended-Upgrade::Automatic-Reboot-Time "03:30";\n$/,
    );
  });

  it("does not exist without the choice, or without a disk that keeps the updates", () => {
    expect(configured({ automaticUpdates: "none", updatesRebootAt: "03:30" })).toBeUndefined();
    const types = imageTypes.filter(
      (imageType) => configured({ automaticUpdates: "all" }, { imageType }) !== undefined,
    );
    expect(types).toEqual(imageTypes.filter((type) => productOf(type).hasDisk));
    expect(types).not.toContain("iso");
  });
});
