import { describe, expect, it } from "vitest";
import { WireFault } from "#wire/fault";
import { imported } from "./support/imported.ts";

/** As KIWI's users write it. */
const foreign = `<?xml version="1.0" encoding="utf-8"?>
<!-- a kiosk -->
<image schemaversion="8.0" name="Kiosk" displayname="A kiosk">
  <description type="system"><author>Rhea</author><contact>r@example.org</contact><specification>Sells tickets</specification></description>
  <profiles><profile name="big" description="big"/></profiles>
  <preferences>
    <version>1.15.6</version><packagemanager>zypper</packagemanager><locale>en_US</locale><keytable>de</keytable>
    <timezone>Europe/Berlin</timezone><rpm-excludedocs>true</rpm-excludedocs>
    <type image="oem" filesystem="xfs" firmware="uefi" format="vmdk">
      <size unit="G">10</size><oemconfig><oem-resize>true</oem-resize></oemconfig>
      <systemdisk name="vg0"><volume name="home" size="2G"/><volume name="@root" freespace="all"/><volume name="opt" freespace="500M"/></systemdisk>
    </type>
    <type image="iso"/><type image="docker"/>
  </preferences>
  <preferences profiles="big"><version>2.0.0</version></preferences>
  <users>
    <user name="root" password="$1$x$y" pwdformat="encrypted"/>
    <user name="tux" password="secret" pwdformat="plain" groups="users,wheel" shell="/bin/sh"/>
  </users>
  <repository type="rpm-md" alias="oss"><source path="https://download.example.org/oss"/></repository>
  <repository type="apt-deb" distribution="trixie" components="main contrib"><source path="http://deb.example.org/debian/"/></repository>
  <repository type="rpm-md" password="x"><source path="https://download.example.org/own"/></repository>
  <repository type="rpm-md"><source path="obs://openSUSE:Leap/standard"/></repository>
  <packages type="image">
    <package name="vim"/><package name="vim"/><package name="nginx=1.2-3"/><namedCollection name="base"/>
    <ignore name="sendmail"/><archive name="web.tar.gz"/><product name="SLES"/>
  </packages>
  <packages type="bootstrap"><package name="filesystem"/></packages>
  <packages type="delete"><package name="perl"/></packages>
  <packages type="image" profiles="big"><package name="emacs"/></packages>
  <strip type="delete"><file name="x"/></strip>
</image>`;

const include = (...names: string[]) => names.map((name) => `<include from="${name}"/>`).join("");

describe("importing a description of KIWI", () => {
  it("reads what the API has words for", () => {
    const files = {
      "config.xml": foreign,
      "config.sh": "baseSetRunlevel 3\n",
      "root/etc/motd": "hello",
      "disk.sh": "",
    };
    const { definition, files: found } = imported(files);
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
        settings: { disk_size: 10 },
        lvm: { enabled: true, volume_group: "vg0", volumes: [{ size: 2048, path: "/home" }] },
        scripts: { build: { enabled: true, script: "baseSetRunlevel 3\n" } },
      },
    });
    expect(found).toMatchObject([{ path: "/etc/motd", owner: "root", group: "root", permissions: "644" }]);
  });

  it("names everything that it omits, and why", () => {
    const { omitted } = imported({ "config.xml": foreign, "config.sh": "baseSetRunlevel 3\n", "disk.sh": "" });
    expect(omitted.every(({ why }) => why.length > 10)).toBe(true);
    expect(omitted.map(({ what }) => what)).toEqual([
      "preferences/rpm-excludedocs",
      "preferences/type/filesystem",
      "preferences/type/firmware",
      "preferences/type/oemconfig",
      "preferences/type/systemdisk/volume opt",
      'preferences/type image="iso"',
      'preferences/type image="docker"',
      "preferences",
      "repository https://download.example.org/own",
      "repository obs://openSUSE:Leap/standard",
      "users/user root/password",
      "users/user tux/password",
      "users/user tux/groups",
      "archive web.tar.gz",
      "packages/product SLES",
      'packages type="delete" (perl)',
      'packages type="image" (emacs)',
      "description/author Rhea",
      "description/contact r@example.org",
      "profiles",
      "strip",
      "disk.sh",
      "config.sh (functions of KIWI)",
    ]);
  });

  it("reads the files that it includes", () => {
    const files = {
      "config.xml": `<image name="Kiosk">${include("this://./parts/desk.xml", "gone.xml", "../../etc/passwd", "/etc/passwd")}</image>`,
      "parts/desk.xml": `<image><packages type="image"><package name="vim"/></packages>${include("parts/deep.xml")}</image>`,
      "parts/deep.xml": `<image><packages type="image"><package name="nano"/></packages>${include("parts/deep.xml")}</image>`,
    };
    const { definition, omitted } = imported(files);
    expect(definition.packages.map(({ name }) => name)).toEqual(["vim", "nano"]);
    expect(omitted.map(({ what }) => what)).toEqual([
      "include parts/deep.xml",
      "include gone.xml",
      "include ../../etc/passwd",
      "include /etc/passwd",
    ]);
  });

  it("refuses a description of which nothing can be read, and says which included file is wrong", () => {
    const outer = '<image name="x"><include from="a.xml"/><include from="b.xml"/></image>';
    expect(() => imported({ "config.xml": outer })).toThrow(
      "None of the files that it includes can be read: a.xml, b.xml.",
    );
    expect(() => imported({ "config.xml": outer, "b.xml": "<image>" })).toThrow(/^b\.xml: The XML is not well-formed/);
  });

  const profiled = `<image name="x">
    <profiles>
      <profile name="desk"><requires profile="base"/></profile><profile name="base"/><profile name="live" import="true"/>
    </profiles>
    <preferences><version>12.0</version></preferences>
    <preferences profiles="live"><type image="iso"/></preferences>
    <preferences profiles="desk,other"><type image="oem"/></preferences>
    <packages type="image" profiles="base"><package name="vim"/></packages>
    <packages type="image" profiles="live"><package name="live"/></packages>
  </image>`;
  const chosen = (...profiles: string[]) => imported({ "config.xml": profiled }, { profiles, arch: "x86_64" });

  it("takes what belongs to the chosen profiles and to those that they require", () => {
    const { definition, omitted } = chosen("desk");
    expect(definition).toMatchObject({ version: "12.0.0", type: "oem", packages: [{ name: "vim" }] });
    expect(omitted.map(({ what }) => what)).toEqual(["preferences", 'packages type="image" (live)', "profiles"]);
  });

  it("takes the profiles that KIWI takes by itself, if none is chosen", () => {
    const { definition, omitted } = chosen();
    expect(definition).toMatchObject({ type: "iso", packages: [{ name: "live" }] });
    expect(omitted).toContainEqual({ what: "profiles", why: "choose with --profile: desk, base, live" });
  });

  it("names the profiles that there are", () => {
    expect(() => chosen("big")).toThrow("It has no profile big, but desk, base, live.");
  });

  it("takes only what is for its architecture", () => {
    const packages = '<package name="vim"/><package name="boot" arch="aarch64"/><package name="pae" arch="ix86,s390"/>';
    const document = `<image name="x"><packages type="image">${packages}</packages></image>`;
    const on = (arch: string) => {
      const { definition, omitted } = imported({ "config.xml": document }, { profiles: [], arch });
      return [definition.packages.map(({ name }) => name), omitted.map(({ what, why }) => `${what}: ${why}`)];
    };
    expect(on("i686")).toEqual([["vim", "pae"], ["package boot: it is for aarch64 only"]]);
    expect(on("x86_64")[0]).toEqual(["vim"]);
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
    [
      "entities",
      '<!DOCTYPE image [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><image name="&b;"/>',
      "A DOCTYPE is not accepted.",
    ],
    ["depth", `${"<image>".repeat(100)}`, "The XML is nested too deeply."],
    ["size", `<image>${" ".repeat(2 ** 21)}</image>`, "The XML is too large."],
    ["another document", "<html/>", "The root is html"],
    ["no XML", "name: First", "The XML is not well-formed"],
  ])("refuses hostile or other documents: %s", (_, xml, message) => {
    const act = () => imported({ "config.xml": xml });
    expect(act).toThrow(WireFault);
    expect(act).toThrow(message);
  });
});
