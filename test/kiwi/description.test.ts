import { describe, expect, it } from "vitest";
import { XMLParser } from "fast-xml-parser";
import { settingsWith } from "../support/settings.ts";
import { kiwiDescription, type DescriptionFacts } from "#lib/kiwi/description";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@", parseTagValue: false });

function packageOf(text: string): DescriptionFacts["packages"][number] {
  const [, name = "", epoch, version = "", release = "", arch = ""] =
    /^(.+)-(\d+):([^-]+)-([^-]+)\.([^.]+)$/.exec(text) ?? [];
  return { name, epoch: Number(epoch), version, release, arch };
}

const facts: DescriptionFacts = {
  name: "Kiosk",
  version: "0.0.3",
  imageType: "oem",
  settings: settingsWith({}),
  locale: { language: "de_DE.UTF-8", keyboardLayout: "german", timezone: "Europe/Vienna" },
  users: [{ name: "root", passwordHash: "$6$salt$hash", homedir: "/root", shell: "/bin/bash", group: "root", uid: 0 }],
  packages: ["hello-0:1.0-1.noarch", "vim-2:9.0-3.x86_64"].map(packageOf),
  bootstrap: null,
};
const described = (changes: Partial<DescriptionFacts> = {}) =>
  parser.parse(kiwiDescription({ ...facts, ...changes })).image;

const namesIn = (section: { package: Record<string, string>[] }) => section.package.map((entry) => entry["@name"]);

describe("kiwiDescription", () => {
  it("has one repository, built by the agent from verified packages", () => {
    const { repository, preferences } = described();

    expect(repository).toMatchObject({ source: { "@path": "repo:frozen" }, "@repository_gpgcheck": "false" });
    expect(preferences["rpm-check-signatures"]).toBe("false");
  });

  it("requests exact versions, and bootstraps a system without a package manager", () => {
    const { packages } = described();

    expect(packages["@type"]).toBe("bootstrap");
    expect(namesIn(packages)).toEqual(["hello=1.0-1", "vim=2:9.0-3"]);
  });

  it("distinguishes two architectures, and leaves KIWI's own packages unversioned", () => {
    const both = ["glibc-0:2.36-1.x86_64", "glibc-0:2.36-1.i686", "dracut-kiwi-live-0:9-1.noarch"].map(packageOf);

    expect(namesIn(described({ packages: both }).packages)).toEqual([
      "glibc.x86_64=2.36-1",
      "glibc.i686=2.36-1",
      "dracut-kiwi-live",
    ]);
  });

  it("keeps the bootstrap separate if the image installs its own packages", () => {
    const { packages } = described({ bootstrap: ["filesystem", "zypper"] });

    expect(packages.map((section: Record<string, string>) => section["@type"])).toEqual(["bootstrap", "image"]);
    expect(packages.map(namesIn)).toEqual([
      ["filesystem", "zypper"],
      ["hello=1.0-1", "vim=2:9.0-3"],
    ]);
  });

  it("describes a Debian system with apt, its release, and exact versions", () => {
    const debian = { release: "bookworm", sources: [], keys: [] };
    const { preferences, repository, packages } = described({ debian });

    expect(preferences).toEqual({ version: "0.0.3", packagemanager: "apt", type: described().preferences.type });
    expect(repository).toEqual({
      "@type": "apt-deb",
      "@distribution": "bookworm",
      "@components": "main",
      "@use_for_bootstrap": "true",
      "@alias": "frozen",
      "@repository_gpgcheck": "false",
      source: { "@path": "repo:frozen" },
    });
    expect(packages[0].package).toEqual({ "@name": "apt" });
    expect(namesIn(packages[1])).toEqual(["hello=1.0-1", "vim=2:9.0-3"]);
  });

  it("writes password hashes, and the locale in KIWI's form", () => {
    const { users, preferences } = described();

    expect(users.user).toMatchObject({ "@password": "$6$salt$hash", "@pwdformat": "encrypted", "@id": "0" });
    expect(preferences).toMatchObject({ locale: "de_DE", keytable: "de", timezone: "Europe/Vienna", version: "0.0.3" });
  });

  it("describes a disk", () => {
    expect(described().preferences.type).toMatchObject({ "@image": "oem", "@filesystem": "ext4" });
  });

  it.each(["kiwi-dracut-live", "dracut-kiwi-live"])("makes a live medium with KIWI's module if there is %s", (name) => {
    const { type } = described({ imageType: "iso", packages: [packageOf(`${name}-0:1-1.noarch`)] }).preferences;
    expect(type).toMatchObject({ "@image": "iso", "@flags": "overlay" });
    expect(type["@kernelcmdline"]).not.toContain("rd.live");
  });

  it("makes a live medium with dracut's own module otherwise", () => {
    const { type } = described({ imageType: "iso" }).preferences;
    expect(type["@flags"]).toBe("dmsquash");
    expect(type["@kernelcmdline"].split(" ")).toContain("rd.live.overlay.overlayfs=1");
  });

  it.each(["oem", "iso", "vmx", "xen", "ec2", "oemiso"] as const)(
    "lets %s boot by BIOS, and by UEFI if configured",
    (imageType) => {
      const { type } = described({ imageType }).preferences;
      expect(type["@firmware"]).toBe("bios");
      expect(described({ imageType, firmware: "efi" }).preferences.type).toEqual({ ...type, "@firmware": "efi" });
    },
  );

  it.each(["net", "oci", "wsl"] as const)("omits the firmware for %s, which has no boot loader", (imageType) => {
    expect(described({ imageType, firmware: "efi" }).preferences.type["@firmware"]).toBeUndefined();
  });
});
