import { describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { Catalogue, reasonAgainst } from "#model/catalogue";
import { signingKeysOf } from "#lib/repodata/signature";
import page from "../../docs/base-systems.md?raw";
import tiny from "../../templates/tiny.json";
import {
  debian12,
  debian12Arm64,
  debian12I386,
  debian13,
  debian13Arm64,
  leap15,
  leap16,
  tumbleweed,
} from "../support/catalogues.ts";

const templatesOf = ({
  sets,
}: {
  sets: { templates: { applianceId: number; arch: string; repositories: string[] }[] }[];
}) => sets.flatMap(({ templates }) => templates);

const kiwi = "http://deb.debian.org/debian/dists/bookworm#main?kiwi-dracut-lib,kiwi-dracut-oem-dump";

describe.each([
  ["bookworm", debian12, {}],
  ["trixie", debian13, { kiwi }],
  ["bookworm", debian12Arm64, {}],
  ["bookworm", debian12I386, {}],
  ["trixie", debian13Arm64, {}],
])("the catalogue of %s", (codename, file, others) => {
  const catalogue = Catalogue.parse(file);

  it("has main, updates and security of that release, each at the address of its suite", () => {
    const expected = {
      main: `http://deb.debian.org/debian/dists/${codename}#main`,
      updates: `http://deb.debian.org/debian/dists/${codename}-updates#main`,
      security: `http://deb.debian.org/debian-security/dists/${codename}-security#main`,
      ...others,
    };
    expect(Object.fromEntries(catalogue.repositories.map(({ key, url }) => [key, url]))).toEqual(expected);
    for (const { repositories } of templatesOf(catalogue)) expect(repositories).toEqual(Object.keys(expected));
  });

  it("has the keys of the archive and of security", async () => {
    const keys = await Promise.all(catalogue.keys.map((armour) => signingKeysOf(new TextEncoder().encode(armour))));
    const names = keys.flat().map(({ name }) => name);
    expect(names).toHaveLength(3);
    expect(names.filter((name) => name.includes("Security"))).toHaveLength(1);
  });

  it("installs what debootstrap needs, and a kernel and a boot loader in each template", () => {
    const { bootstrap, kernels, bootLoaders, detection } = catalogue.baseSystem;
    expect(detection.codenames).toEqual([codename]);
    expect(bootstrap).toEqual(expect.arrayContaining(["apt", "base-files", "dpkg", "libc-bin", "usr-is-merged"]));
    for (const { packages } of catalogue.sets.flatMap(({ templates }) => templates)) {
      expect(packages.some((name) => kernels.includes(name))).toBe(true);
      expect(packages.some((name) => bootLoaders.includes(name))).toBe(true);
    }
  });
});

/** Ports of the firewall's names that catalogues use. */
const portOf = (name: string): number => ({ ssh: 22, http: 80 })[name] ?? Number(name);

const all = [debian12, debian12Arm64, debian12I386, debian13, debian13Arm64, leap15, leap16, tumbleweed];

it.each(all)("opens in the firewall of $name what its templates promise", (file) => {
  const templates = Catalogue.parse(file).sets.flatMap((set) => set.templates);
  for (const { promises, configuration, packages } of templates) {
    const open = configuration.firewall.openPorts.map(portOf);
    expect(open).toEqual(expect.arrayContaining(promises?.ports ?? []));
    if (packages.some((name) => /^(nginx|apache2)$/.test(name))) expect(open).toContain(80);
  }
});

it("gives each template of all catalogues its own id", () => {
  const ids = [tiny, ...all]
    .flatMap((file) => templatesOf(Catalogue.parse(file)))
    .map(({ applianceId }) => applianceId);
  expect(new Set(ids).size).toBe(ids.length);
});

describe.each([
  ["aarch64", debian12Arm64, /amd64|x86_64|grub-pc|isolinux|syslinux/],
  ["aarch64", debian13Arm64, /amd64|x86_64|grub-pc|isolinux|syslinux/],
  // Repositories and templates of i386 are for i586, as answers call it.
  ["i586", debian12I386, /amd64|x86_64|efi/],
])("a catalogue for %s", (itsArch, file, foreign) => {
  const { baseSystem, repositories, sets } = Catalogue.parse(file);

  it("is for nothing else, and names no package of other machines", () => {
    const arches = [...repositories.flatMap((one) => one.arches), ...templatesOf({ sets }).map(({ arch }) => arch)];
    expect(new Set(arches)).toEqual(new Set([itsArch]));
    expect(JSON.stringify([{ ...baseSystem, cannot: {} }, sets])).not.toMatch(foreign);
  });
});

const offered = (file: unknown) => {
  const { baseSystem } = Catalogue.parse(file);
  return imageTypes.filter((type) => reasonAgainst(baseSystem, type) === undefined);
};

it.each([debian12Arm64, debian13Arm64])(
  "offers for arm64 what was seen to boot, or is the same disk: $name",
  (file) => {
    expect(offered(file)).toEqual(["oem", "qcow2"]);
    expect(page).toContain("as `oem` or `qcow2`");
  },
);

it("offers for i386 all formats except those of clouds without 32-bit machines", () => {
  expect(imageTypes.filter((type) => !offered(debian12I386).includes(type))).toEqual(["vhd", "gce"]);
});
