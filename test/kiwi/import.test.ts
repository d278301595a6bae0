import { describe, expect, it } from "vitest";
import { kiwiTypes } from "#contract/index";
import { manifestXml } from "#documents/manifest";
import { descriptionFiles } from "#kiwi/description-files";
import type { ImageFacts } from "#kiwi/facts";
import { importXml, type Imported } from "#kiwi/import/index";
import { withInterpreter } from "#kiwi/shell";
import { WireFault } from "#wire/fault";
import * as fc from "../support/properties.ts";
import { facts } from "./support/appliances.ts";
import { plain } from "./support/facts.ts";

const serviceUrl = "https://kiln.test";

function imported(files: Record<string, string>): Imported {
  const bytes = Object.entries(files).map(
    ([path, text]) => [path, { content: new TextEncoder().encode(text), mode: 0o644 }] as const,
  );
  return importXml(files["config.xml"] ?? "", { nextTo: { files: new Map(bytes) }, serviceUrl });
}

type Script = ImageFacts["scripts"]["boot"];
const isOn = ({ enabled, script }: Script) => enabled && script !== "";
const scriptOf = (isThere: boolean, script: string) => ({ enabled: isThere, script: isThere ? script : "" });

/**
 * What an import must give. Everything that a description says in another form, or not at all, is listed here: settings of
 * the machine (memory, CD-ROM), PAE, tags, passwords, who may clone, what is disabled, formats that KIWI makes as a disk, and
 * how the selection came to its packages.
 */
function expectedOf(one: ImageFacts): Imported["definition"] {
  const { settings, network, firewall, scripts, lvm } = one;
  const { hostname, ip, route, netmask, nameservers, type } = network;
  const kiwiType = kiwiTypes[one.imageType];
  const isDisk = kiwiType === "oem";
  return {
    name: one.title,
    version: one.version,
    type: one.imageType === "oemiso" || !isDisk ? one.imageType : "oem",
    packages: one.packages.map(({ name: its, epoch, version, release }) => ({
      name: its,
      version: `${epoch === 0 ? "" : `${epoch}:`}${version}-${release}`,
    })),
    patterns: [],
    bans: [],
    configuration: {
      description: one.description,
      website: one.website,
      locale: {
        keyboard_layout: one.locale.keyboardLayout,
        language: one.locale.language,
        timezone: { location: one.locale.timezone },
      },
      network:
        type === "manual" ? { type, hostname, ip, netmask, route, nameservers: nameservers.join(", ") } : { type },
      firewall: { enabled: firewall.enabled, open_port: firewall.enabled ? firewall.openPorts : [] },
      ...(one.users.length > 0 && {
        users: one.users.map(({ passwordHash: _hash, ...user }) => user),
      }),
      eulas: one.eulas,
      databases: one.databases.map(({ type: server, users }) => {
        // A database has its users, so that the order of a user's databases is that of the first user who names them.
        const order = [...new Set(users.flatMap(({ databases }) => databases))];
        return {
          type: server,
          users: users.map(({ username, databases }) => ({
            username,
            database_list: order.filter((each) => databases.includes(each)).join(","),
          })),
        };
      }),
      autostarts: one.autostarts
        .filter(({ enabled }) => enabled)
        .map((each) => ({ ...each, description: each.description.replaceAll("\\", "/") })),
      settings: {
        ...(isDisk && { disk_size: Math.ceil(one.diskSizeMb / 1024) }),
        swap_size: settings.swapSizeMb,
        runlevel: settings.runlevel,
        automatic_login: settings.automaticLogin,
        xen_host_mode_enabled: settings.xenHostModeEnabled,
        live_installer_enabled: settings.liveInstallerEnabled,
        webyast_enabled: settings.webyastEnabled,
      },
      lvm:
        lvm?.enabled && isDisk
          ? {
              enabled: true,
              volume_group: lvm.volumeGroup,
              volumes: lvm.volumes.map(({ sizeMb: size, path }) => ({ size, path })),
            }
          : { enabled: false },
      scripts: {
        build: scriptOf(
          isOn(scripts.build) && scripts.build.script.trim() !== "",
          withInterpreter(scripts.build.script),
        ),
        boot: scriptOf(isOn(scripts.boot), withInterpreter(scripts.boot.script)),
        autoyast: scriptOf(isOn(scripts.autoyast), scripts.autoyast.script),
      },
    },
  };
}

describe("importing a description that the service has made", () => {
  it("gives the same appliance, whatever it says", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const { definition, files } = imported(descriptionFiles(one));
        expect(definition).toEqual(expectedOf(one));
        expect(files).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("omits only passwords, which are hashed", () => {
    const { omitted } = imported(descriptionFiles(plain));
    expect(omitted.map(({ what }) => what)).toEqual(["users/user root/password"]);
  });
});

type Shown = Parameters<typeof manifestXml>[0];

/** The manifest of a build, with as much of the frozen input as it shows. */
function manifestOf(one: ImageFacts): string {
  const { locale, network, firewall, settings, scripts } = one;
  const input = {
    appliance: { id: 1000, name: one.title, version: one.version, arch: "x86_64" },
    imageType: one.imageType,
    repositories: [
      { alias: "repo-1", id: 1, name: "Main", url: "service:/repositories/tiny/main" },
      { alias: "repo-2", id: 2, name: "Tools", url: "https://mirror.example.org/tools?a=1&b=2" },
    ],
    description: descriptionFiles(one),
    files: [{ path: "/etc/motd", mode: 0o644, owner: "root", group: "root", size: 3, sha256: "0".repeat(64) }],
    keys: [{ name: "ours", fingerprint: "AB", armour: "-----BEGIN\n\nx\n-----END\n" }],
    configuration: {
      baseSystem: "tiny-1.0",
      estimatedRawMb: 12,
      locale,
      runlevel: settings.runlevel,
      network,
      firewall,
      webyast: settings.webyastEnabled,
      ...(scripts.build.enabled && { buildScript: scripts.build.script }),
    },
  };
  // A manifest shows no more of them.
  const shown = { uuid: "u", applianceUuid: "v", build: { builder: "kiwi 10" }, input } as unknown as Shown;
  return manifestXml(shown, serviceUrl);
}

/** What a manifest says. It has the other sections of a configuration neither in words nor as files. */
function expectedOfManifest(one: ImageFacts): Imported["definition"] {
  const whole = expectedOf(one);
  const { locale, network, users, lvm, settings } = whole.configuration;
  const { enabled, openPorts } = one.firewall;
  const { build } = one.scripts;
  return {
    ...whole,
    name: one.name,
    base_system: "tiny-1.0",
    arch: "x86_64",
    type: one.imageType,
    repositories: [{ name: "Main" }, { name: "Tools", url: "https://mirror.example.org/tools?a=1&b=2" }],
    configuration: {
      ...(locale && { locale }),
      ...(network && { network }),
      ...(users && { users }),
      ...(lvm && { lvm }),
      settings: {
        ...(settings?.disk_size !== undefined && { disk_size: settings.disk_size }),
        runlevel: one.settings.runlevel,
        webyast_enabled: one.settings.webyastEnabled,
      },
      firewall: { enabled, open_port: ["ssh", "http"].filter((port) => openPorts.includes(port)) },
      ...(build.enabled && { scripts: { build } }),
    },
    gpg_keys: [{ name: "ours", key: "-----BEGIN\n\nx\n-----END\n" }],
  };
}

describe("importing the manifest of a build", () => {
  it("gives the same appliance, whatever it says", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const { definition } = imported({ "config.xml": manifestOf(one) });
        expect(definition).toEqual(expectedOfManifest(one));
      }),
      { numRuns: 200 },
    );
  });

  it("names the files whose contents it lacks", () => {
    const { omitted } = imported({ "config.xml": manifestOf(plain) });
    expect(omitted.map(({ what }) => what)).toEqual(["users/user root/password", "/etc/motd"]);
  });
});

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
      "profiles",
      "strip",
      "disk.sh",
      "config.sh (functions of KIWI)",
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
