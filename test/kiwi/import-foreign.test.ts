import { describe, expect, it } from "vitest";
import { WireFault } from "#lib/wire/fault";
import { chosenFrom } from "#lib/kiwi/import/chosen";
import { importDescription } from "#lib/kiwi/import/description";
import { readXml, type XmlNode } from "#lib/wire/read-xml";
import { imported } from "./support/imported.ts";

/** A description as KIWI's users write it. */
const foreign = `<?xml version="1.0" encoding="utf-8"?>
<!-- a kiosk -->
<image schemaversion="8.0" name="Kiosk" displayname="A kiosk">
  <description type="system"><author>Rhea</author><contact>r@example.org</contact><specification>Sells tickets</specification></description>
  <profiles><profile name="big" description="big"/></profiles>
  <preferences>
    <version>1.15.6</version><packagemanager>zypper</packagemanager><locale>en_US,de_DE</locale><keytable>de</keytable>
    <timezone>Europe/Berlin</timezone><rpm-excludedocs>true</rpm-excludedocs>
    <type image="oem" filesystem="xfs" firmware="uefi" format="vmdk">
      <size unit="G">10</size><oemconfig><oem-resize>true</oem-resize></oemconfig>
      <systemdisk name="vg0"><volume name="home" size="2G" copy_on_write="false"/><volume name="@root" freespace="all"/><volume name="opt" freespace="500M"/></systemdisk>
    </type>
    <type image="iso"/><type image="docker"/>
  </preferences>
  <preferences profiles="big"><version>2.0.0</version></preferences>
  <users>
    <user name="root" password="$1$x$y" pwdformat="encrypted"/>
    <user name="tux" password="secret" pwdformat="plain" groups="users,wheel" shell="/bin/sh" realname="Tux"/>
  </users>
  <users arch="aarch64"><user name="pi" password="$1$x$y"/></users>
  <repository type="rpm-md" alias="oss" priority="1"><source path="https://download.example.org/oss"><signing key="file:///oss.asc"/></source></repository>
  <repository type="apt-deb" distribution="trixie" components="main contrib"><source path="http://deb.example.org/debian/"/></repository>
  <repository type="rpm-md" password="x"><source path="https://download.example.org/own"/></repository>
  <repository type="rpm-md"><source path="obs://openSUSE:Leap/standard"/></repository>
  <packages type="image" patternType="plusRecommended">
    <package name="vim"/><package name="vim"/><package name="nginx=1.2-3" bootinclude="true"/><namedCollection name="base"/>
    <ignore name="sendmail"/><archive name="web.tar.gz"/><product name="SLES"/>
  </packages>
  <packages type="bootstrap"><package name="filesystem"/></packages>
  <packages type="delete"><package name="perl"/></packages>
  <packages type="iso"><package name="lldpd"/></packages>
  <packages type="image" profiles="big"><package name="emacs"/></packages>
  <strip type="delete"><file name="x"/></strip>
</image>`;

const described = readXml(foreign);
const forPc = { profiles: [], arch: "x86_64" };
const resultOf = (image: XmlNode) => importDescription(chosenFrom(image, forPc), { files: new Map() });

/** Elements that do not affect an appliance, are the default, or appear twice. */
const neutral = new Set([
  "image@schemaversion",
  "image@name", // beside a displayname
  "image/description@type",
  "image/profiles/profile@description",
  "image/preferences/packagemanager",
  "image/preferences/type/systemdisk/volume @root",
  "image/preferences/type/systemdisk/volume@freespace",
  "image/users/user@password", // never imported, and always reported
  "image/users/user@pwdformat",
  "image/repository@type",
  "image/packages/package vim",
  "image/packages/package@name",
]);

/** Whether the import reports only this element, and none of its children. */
const isNamedWhole = ({ name, attributes }: XmlNode): boolean =>
  attributes.has("profiles") || ["strip", "oemconfig", "signing"].includes(name);

/** Copies of the description, each without one of the elements or attributes that may matter. */
const variantsOf = (image: XmlNode) => without(image, "image").filter(({ lost }) => !neutral.has(lost));

function without(node: XmlNode, path: string): { lost: string; image: XmlNode }[] {
  const inside = node.children.flatMap((child, at) => {
    const name = `${path}/${[child.name, child.attributes.get("name") ?? []].flat().join(" ")}`;
    const others = (put: XmlNode[]) => ({ ...node, children: node.children.toSpliced(at, 1, ...put) });
    return [
      { lost: name, image: others([]) },
      ...(isNamedWhole(child) ? [] : without(child, `${path}/${child.name}`)).map(({ lost, image }) => ({
        lost,
        image: others([image]),
      })),
    ];
  });
  const attributes = [...node.attributes.keys()].map((key) => ({
    lost: `${path}@${key}`,
    image: { ...node, attributes: new Map([...node.attributes].filter(([one]) => one !== key)) },
  }));
  return [...inside, ...attributes];
}

const typeOf = (types: string) =>
  imported({ "config.xml": `<image name="x"><preferences>${types}</preferences></image>` }).definition.type;

describe("importing a description of KIWI", () => {
  it("reads what the API has words for", () => {
    const files = {
      "config.xml": foreign,
      "config.sh": "baseSetRunlevel 3\n",
      "root/etc/motd": "hello",
      "disk.sh": "",
    };
    const { definition, files: found } = imported(files, forPc);
    expect(definition).toEqual({
      name: "A kiosk",
      version: "1.15.6",
      type: "vmx",
      repositories: [
        { name: "oss", url: "https://download.example.org/oss" },
        { url: "http://deb.example.org/debian/dists/trixie#main,contrib" },
      ],
      packages: [{ name: "vim" }, { name: "nginx", version: "1.2-3" }, { name: "filesystem" }],
      patterns: [{ name: "base" }],
      bans: [{ name: "sendmail" }],
      configuration: {
        description: "Sells tickets",
        locale: { language: "en_US.UTF-8", keyboard_layout: "german", timezone: { location: "Europe/Berlin" } },
        users: [
          { uid: 0, name: "root", group: "root", shell: "/bin/bash", homedir: "/root" },
          { uid: 1000, name: "tux", group: "users", shell: "/bin/sh", homedir: "/home/tux" },
        ],
        settings: { disk_size: 10, file_system: "xfs" },
        lvm: { enabled: true, kind: "lvm", volume_group: "vg0", volumes: [{ size: 2048, path: "/home" }] },
        scripts: { build: { enabled: true, script: "baseSetRunlevel 3\n" } },
      },
    });
    expect(found).toMatchObject([{ path: "/etc/motd", owner: "root", group: "root", permissions: "644" }]);
  });

  it("names everything that it omits, and why", () => {
    const { omitted } = imported({ "config.xml": foreign, "config.sh": "baseSetRunlevel 3\n", "disk.sh": "" }, forPc);
    expect(omitted.every(({ why }) => why.length > 10)).toBe(true);
    expect(omitted.map(({ what }) => what)).toEqual([
      "preferences (version)",
      "preferences/locale",
      "preferences/rpm-excludedocs",
      "preferences/type/firmware",
      "preferences/type/oemconfig/oem-resize",
      "preferences/type/systemdisk/volume home/copy_on_write",
      "preferences/type/systemdisk/volume opt",
      'preferences/type image="iso"',
      'preferences/type image="docker"',
      "repository https://download.example.org/oss/priority",
      "repository https://download.example.org/oss/signing",
      "repository https://download.example.org/own",
      "repository obs://openSUSE:Leap/standard",
      "users (pi)",
      "users/user root/password",
      "users/user tux/password",
      "users/user tux/groups",
      "users/user tux/realname",
      "package nginx=1.2-3/bootinclude",
      "archive web.tar.gz",
      "packages/product SLES",
      'packages type="image"/patternType',
      'packages type="delete" (perl)',
      'packages type="iso" (lldpd)',
      'packages type="image" (emacs)',
      "description/author Rhea",
      "description/contact r@example.org",
      "profiles",
      "strip",
      "disk.sh",
      "config.sh (functions of KIWI: baseSetRunlevel)",
    ]);
  });

  it("reads or names each part: without it, the result differs", () => {
    const whole = JSON.stringify(resultOf(described));
    const silent = variantsOf(described).filter(({ image }) => JSON.stringify(resultOf(image)) === whole);
    expect(silent.map(({ lost }) => lost)).toEqual([]);
  });

  it("takes the primary type, or else the first", () => {
    expect(typeOf('<type image="iso"/><type image="oem" primary="true"/>')).toBe("oem");
    expect(typeOf('<type image="iso"/><type image="oem"/>')).toBe("iso");
  });

  it.each([
    ['filesystem="btrfs"', "<systemdisk>", undefined],
    ['filesystem="btrfs"', '<systemdisk preferlvm="true">', { enabled: true }],
    ['filesystem="ext4"', "<systemdisk>", { enabled: true }],
  ])("makes no LVM volumes of subvolumes: %s %s", (attributes, disk, lvm) => {
    const type = `<type image="oem" ${attributes}>${disk}<volume name="home" size="2G"/></systemdisk></type>`;
    const { definition, omitted } = imported({
      "config.xml": `<image name="x"><preferences>${type}</preferences></image>`,
    });
    if (lvm) expect(definition.configuration.lvm).toMatchObject(lvm);
    else expect(definition.configuration.lvm).toBeUndefined();
    expect(omitted.some(({ what }) => what === "preferences/type/systemdisk")).toBe(lvm === undefined);
  });

  it("omits nothing of a root of btrfs with the subvolumes that all have", () => {
    const volumes = '<volume name="var/log"/><volume name="@home" mountpoint="home"/>';
    const type = `<type image="oem" filesystem="btrfs"><systemdisk>${volumes}</systemdisk></type>`;
    const { definition, omitted } = imported({
      "config.xml": `<image name="x"><preferences>${type}</preferences></image>`,
    });
    expect(definition.configuration.settings).toMatchObject({ file_system: "btrfs" });
    expect(omitted.filter(({ what }) => what.includes("systemdisk"))).toEqual([]);
  });

  it.each([
    ['image="oem" format="vagrant"', '<vagrantconfig provider="libvirt" virtualsize="42"/>', "vagrant_libvirt"],
    ['image="vmx" format="vagrant"', '<vagrantconfig provider="virtualbox"/>', "vagrant_virtualbox"],
    ['image="oem" format="vdi"', "", "vdi"],
    ['image="oem" format="raw"', "", "oem"],
  ])("knows a disk by its format: %s", (attributes, inside, type) => {
    const preferences = `<preferences><type ${attributes}>${inside}</type></preferences>`;
    const { definition, omitted } = imported({ "config.xml": `<image name="x">${preferences}</image>` });
    expect(definition.type).toBe(type);
    expect(omitted.filter(({ what }) => what.includes("format"))).toEqual([]);
  });

  it("names a format of disks that it does not know", () => {
    const preferences = '<preferences><type image="oem" format="qed"/></preferences>';
    const { definition, omitted } = imported({ "config.xml": `<image name="x">${preferences}</image>` });
    expect(definition.type).toBe("oem");
    expect(omitted.map(({ what }) => what)).toEqual(['preferences/type/format="qed"']);
  });

  it("names what it drops of a repository", () => {
    const repository =
      '<repository alias="oss" priority="1" imageinclude="true"><source path="https://x.test/oss"/></repository>';
    const { omitted } = imported({ "config.xml": `<image name="x">${repository}</image>` });
    expect(omitted.map(({ what }) => what)).toEqual([
      "repository https://x.test/oss/priority",
      "repository https://x.test/oss/imageinclude",
    ]);
  });

  it.each([
    ['sourcetype="metalink"', "https://x.test/metalink?repo=oss", /it is a metalink, a list of mirrors/],
    ['sourcetype="mirrorlist"', "https://x.test/mirrors", /it is a mirrorlist, a list of mirrors/],
    ['type="pacman" components="core"', "https://x.test/arch", /a repository of pacman/],
    ['sourcetype="baseurl"', "https://x.test/$releasever/oss", /no variables in addresses/],
  ])("names a repository that has no address of its own: %s", (attributes, path, why) => {
    const repository = `<repository ${attributes}><source path="${path}"/></repository>`;
    const { definition, omitted } = imported({ "config.xml": `<image name="x">${repository}</image>` });
    expect(definition.repositories).toBeUndefined();
    expect(omitted).toEqual([{ what: `repository ${path}`, why: expect.stringMatching(why) }]);
  });

  it("names the functions and variables of KIWI that a script uses", () => {
    const script =
      'test -f /.kconfig && . /.kconfig\nfor profile in ${kiwi_profiles//,/ }; do suseSetupProduct "$kiwi_iname"; done\n';
    const { omitted } = imported({ "config.xml": '<image name="x"/>', "config.sh": script });
    expect(omitted.map(({ what }) => what)).toEqual([
      "config.sh (functions of KIWI: /.kconfig, suseSetupProduct)",
      "config.sh (variables of KIWI: $kiwi_profiles, $kiwi_iname)",
    ]);
  });

  it.each([
    ['<package name="a" arch="aarch64"/>', undefined, /for aarch64, and none for x86_64/],
    ['<package name="a" arch="aarch64,armv7l"/>', undefined, /for aarch64, armv7l, and none/],
    ['<package name="a" arch="aarch64"/>', "x86_64", undefined],
    ['<package name="a" arch="aarch64"/><package name="b" arch="x86_64"/>', undefined, undefined],
  ])("asks for the architecture of a description for other machines: %s, %s", (packages, arch, refused) => {
    const xml = `<image name="x"><packages type="image">${packages}</packages></image>`;
    const act = () => imported({ "config.xml": xml }, { profiles: [], arch });
    if (refused) expect(act).toThrow(refused);
    else expect(act().omitted).toContainEqual({ what: "package a", why: "it is for aarch64 only" });
  });

  it("names how to encrypt a disk that its author has encrypted", () => {
    const type = '<type image="oem" luks="open sesame"/>';
    const { omitted } = imported({ "config.xml": `<image name="x"><preferences>${type}</preferences></image>` });
    expect(omitted).toEqual([{ what: "preferences/type/luks", why: expect.stringContaining("set disk_encryption") }]);
  });

  it.each([
    [
      "entities",
      '<!DOCTYPE image [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><image name="&b;"/>',
      "A DOCTYPE is not accepted.",
    ],
    ["depth", `${"<image>".repeat(100)}`, "The XML is nested too deeply."],
    ["size", `<image>${" ".repeat(2 ** 21)}</image>`, "The XML is too large."],
    ["another document", "<html/>", "The root element is html"],
    ["no XML", "name: First", "The XML is not well-formed"],
  ])("refuses hostile or other documents: %s", (_, xml, message) => {
    const act = () => imported({ "config.xml": xml });
    expect(act).toThrow(WireFault);
    expect(act).toThrow(message);
  });
});
