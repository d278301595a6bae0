import {
  evr,
  frozenComponent,
  frozenSource,
  type Arch,
  type Firmware,
  type FrozenPackage,
  type ImageType,
} from "#lib/contract/index";
import { marked, writeXml, type XmlMarked } from "#lib/wire/xml";
import type { DebianFacts } from "#lib/kiwi/debian-facts";
import { imageTypeElement, type LiveModule, type TypeFacts } from "#lib/kiwi/image-type";
import { keymapOf } from "#lib/kiwi/keytables";
import { withPartitions } from "#lib/kiwi/partitions";
import { withVolumes, type LvmFacts } from "#lib/kiwi/volumes";

/** Everything in a KIWI description. Names are already checked, and the XML writer escapes. */
export interface DescriptionFacts {
  /** KIWI's image name: no spaces, or the default entry of an install medium does not boot. */
  name: string;
  version: string;
  imageType: ImageType;
  /** Default: x86_64. */
  arch?: Arch;
  /** Default: bios. */
  firmware?: Firmware;
  /** Whether its EFI partition has the kernel as one program, which the owner can sign. Default: false. */
  hasUnifiedKernel?: boolean;
  settings: TypeFacts["settings"];
  /** Default: the disk has one plain partition. */
  lvm?: LvmFacts;
  locale: { language: string; keyboardLayout: string; timezone: string };
  users: {
    name: string;
    passwordHash: string;
    homedir: string;
    shell: string;
    group: string;
    uid: number;
    /** Default: none. */
    sshKeys?: readonly string[];
    /** Default: false. */
    administrator?: boolean;
  }[];
  /** All packages of the image. */
  packages: Pick<FrozenPackage, "name" | "epoch" | "version" | "release" | "arch">[];
  /** The packages that KIWI installs from outside, before the image has a package manager; null for all. */
  bootstrap: string[] | null;
  /** Absent for a system of rpm packages. */
  debian?: DebianFacts;
}

/**
 * config.xml of KIWI NG, schema 7.5. Its one repository contains exactly the resolved packages. The agent fills in
 * where it stored them.
 */
export function kiwiDescription(facts: DescriptionFacts): string {
  const image = marked(
    { schemaversion: "7.5", name: facts.name, displayname: facts.name },
    {
      description: marked(
        { type: "system" },
        { author: "Kiln", contact: "builder@localhost", specification: `${facts.name} ${facts.version}` },
      ),
      preferences: preferences(facts),
      users: { user: facts.users.map(user) },
      repository: frozenRepository(facts),
      packages: packageSections(facts),
    },
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${writeXml("image", image)}`;
}

const preferences = (facts: DescriptionFacts) => ({
  version: facts.version,
  ...(facts.debian ? { packagemanager: "apt" } : rpmPreferences(facts)),
  type: typeElement(facts),
});

const typeElement = ({ imageType, arch = "x86_64", firmware = "bios", ...facts }: DescriptionFacts): XmlMarked => {
  const { settings, lvm, packages, hasUnifiedKernel = false } = facts;
  const liveModule = liveModuleOf(packages);
  const type = imageTypeElement(imageType, { arch, settings, firmware, hasUnifiedKernel, liveModule });
  return withPartitions(withVolumes(type, lvm), lvm);
};

/** The names of the package with KIWI's live module: in Debian, and elsewhere. Debian 13 has none. */
const kiwiLive = ["kiwi-dracut-live", "dracut-kiwi-live"];

const liveModuleOf = (packages: DescriptionFacts["packages"]): LiveModule =>
  packages.some(({ name }) => kiwiLive.includes(name)) ? "overlay" : "dmsquash";

/** KIWI sets language, keyboard and time zone by programs that fail in a Debian system: config.sh does it there. */
const rpmPreferences = ({ locale }: DescriptionFacts) => ({
  packagemanager: "zypper",
  locale: locale.language.replace(/\..*$/, ""),
  keytable: keymapOf(locale.keyboardLayout),
  timezone: locale.timezone,
  // The agent has checked every file against its frozen checksum, which comes from signed metadata if there is any.
  "rpm-check-signatures": false,
});

const user = ({ name, passwordHash, homedir, shell, group, uid }: DescriptionFacts["users"][number]): XmlMarked =>
  marked(
    { name, password: passwordHash, pwdformat: "encrypted", home: homedir, shell, groups: group, id: String(uid) },
    {},
  );

const frozenRepository = ({ debian }: DescriptionFacts) => {
  const type = debian
    ? { type: "apt-deb", distribution: debian.release, components: frozenComponent, use_for_bootstrap: "true" }
    : { type: "rpm-md", package_gpgcheck: "false" };
  return marked(
    { ...type, alias: "frozen", repository_gpgcheck: "false" },
    { source: marked({ path: frozenSource }, {}) },
  );
};

/**
 * Two sections if the image contains its own package manager, one if the host installs everything. debootstrap itself
 * knows what a Debian system needs before apt.
 */
function packageSections({ packages, bootstrap, debian }: DescriptionFacts): XmlMarked[] {
  if (debian) {
    const names = packages.map((one) => `${one.name}=${evr(one)}`);
    return [section("bootstrap", ["apt"]), section("image", names)];
  }
  const names = packages.map((one) => packageRequest(one, packages));
  if (bootstrap === null) return [section("bootstrap", names)];
  return [section("bootstrap", bootstrap), section("image", names)];
}

// Before it begins, KIWI looks for its dracut modules by their plain names.
const kiwiDracutModule = /^dracut-kiwi-/;

/** `name=[epoch:]version-release`, with the architecture if two packages have the name. */
function packageRequest(one: DescriptionFacts["packages"][number], all: DescriptionFacts["packages"]): string {
  const { name, arch } = one;
  const isOne = all.filter((other) => other.name === name).length === 1;
  if (isOne && kiwiDracutModule.test(name)) return name;
  return `${name}${isOne ? "" : `.${arch}`}=${evr(one)}`;
}

const section = (type: "bootstrap" | "image", names: string[]) =>
  marked({ type }, { package: names.map((name) => marked({ name }, {})) });
