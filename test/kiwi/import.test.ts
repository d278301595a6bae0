import { describe, expect, it } from "vitest";
import { type ImageType, productOf } from "#lib/contract/index";
import { manifestXml } from "#documents/manifest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import { fileSystemOf } from "#lib/kiwi/file-system";
import type { ImageFacts } from "#lib/kiwi/facts";
import { hasCloudInit } from "#lib/kiwi/first-boot";
import { hasIgnition } from "#lib/kiwi/ignition";
import type { Imported } from "#lib/kiwi/import/index";
import { usersIn } from "#lib/kiwi/import/users";
import { withInterpreter } from "#lib/kiwi/shell";
import * as fc from "../support/properties.ts";
import { facts } from "./support/appliances.ts";
import { plain } from "./support/facts.ts";
import { imported, serviceUrl } from "./support/imported.ts";

type Script = ImageFacts["scripts"]["boot"];
const isOn = ({ enabled, script }: Script) => enabled && script !== "";
const scriptOf = (isThere: boolean, script: string) => ({ enabled: isThere, script: isThere ? script : "" });

/**
 * The expected result of an import. It lists everything that a description expresses differently, or not at all:
 * settings of the machine (memory, CD-ROM), PAE, tags, passwords, the right to clone, disabled entries, formats that
 * KIWI makes as a disk, and how packages were selected.
 */
function expectedOf(one: ImageFacts): Imported["definition"] {
  const { settings, network, firewall, scripts, lvm } = one;
  const { hostname, ip, route, netmask, nameservers, type } = network;
  const kiwiType = productOf(one.imageType).kiwi;
  const isDisk = kiwiType === "oem";
  return {
    name: one.title,
    version: one.version,
    type: typeAfterImport(one.imageType),
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
      network: {
        type,
        ...(hostname !== "" && { hostname }),
        ...(type === "manual" && { ip, netmask, route, nameservers: nameservers.join(", ") }),
      },
      firewall: { enabled: firewall.enabled, open_port: firewall.enabled ? firewall.openPorts : [] },
      ...(one.users.length > 0 && {
        users: one.users.map(({ passwordHash: _hash, sshKeys = [], administrator, ...user }) => ({
          ...user,
          ...(sshKeys.length > 0 && { ssh_keys: sshKeys }),
          ...(administrator && { administrator }),
        })),
      }),
      eulas: one.eulas,
      databases: one.databases.map(({ type: server, users }) => {
        // Databases belong to users, so a user's databases are ordered by the first user who names them.
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
        ...(isDisk && { disk_size: Math.ceil(settings.diskSizeMb / 1024), file_system: fileSystemOf(one) }),
        ...swapOf(one),
        runlevel: settings.runlevel,
        automatic_login: settings.automaticLogin,
        // Without a key and a choice, the image has nothing about it.
        ssh_passwords: settings.sshPasswords,
        // Other images have nothing about it.
        first_boot: hasCloudInit(one) || hasIgnition(one) ? settings.firstBoot : "none",
        // Other images do not keep automatic updates.
        automatic_updates: isDisk ? settings.automaticUpdates : "none",
        // An install medium writes its own partitions.
        disk_encryption: encryptsDisk(one) ? settings.diskEncryption : "none",
        // Only the program of a disk with a key server contains the server's name.
        tang_server: isServed(one) ? settings.tangServer : "",
        tang_thumbprint: isServed(one) ? settings.tangThumbprint : "",
        updates_reboot_at: isDisk ? settings.updatesRebootAt : "",
        // KIWI allows no kernel arguments for a container.
        ...(kiwiType !== "tbz" && { kernel_arguments: settings.kernelArguments }),
        xen_host_mode_enabled: settings.xenHostModeEnabled,
        live_installer_enabled: settings.liveInstallerEnabled,
        webyast_enabled: settings.webyastEnabled,
      },
      lvm:
        lvm?.enabled && isDisk && (lvm.kind === "lvm" || lvm.volumes.length > 0)
          ? {
              enabled: true,
              kind: lvm.kind,
              ...(lvm.kind === "lvm" && { volume_group: lvm.volumeGroup }),
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

const isServed = (one: ImageFacts): boolean => encryptsDisk(one) && one.settings.diskEncryption === "tang";

/** Other images have no partition for swap space. */
function swapOf({ imageType, settings: { swapIn, swapSizeMb } }: ImageFacts) {
  if (swapIn === "file") return { swap_in: "file", swap_size: swapSizeMb };
  const hasPartition = productOf(imageType).hasDisk && swapSizeMb > 0;
  return hasPartition ? { swap_in: "partition", swap_size: swapSizeMb } : { swap_in: "file", swap_size: 0 };
}

/** All disk formats are one KIWI type, and so are all containers. */
function typeAfterImport(imageType: ImageType): ImageType {
  const { kiwi, isMedium } = productOf(imageType);
  if (kiwi === "tbz") return "oci";
  return kiwi === "oem" && !isMedium ? "oem" : imageType;
}

describe("importing a description that the service has made", () => {
  it("imports the same appliance again, whatever the description contains", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const { definition, files } = imported(descriptionFiles(one));
        expect(definition).toEqual(expectedOf(one));
        expect(files).toEqual([]);
        expect(usersIn(descriptionFiles(one))).toEqual(definition.configuration.users ?? []);
      }),
      { numRuns: 200 },
    );
  });

  it("keeps the order of more than nine autostarts, in whatever order the files come", () => {
    const autostarts = Array.from({ length: 11 }, (_, nth) => {
      return { command: `/bin/start-${nth}`, description: "", enabled: true, user: "root" };
    });
    const files = Object.entries(descriptionFiles({ ...plain, autostarts }));
    const { definition } = imported(Object.fromEntries(files.toReversed()));
    const commands = definition.configuration.autostarts?.map(({ command }) => command);
    expect(commands).toEqual(autostarts.map(({ command }) => command));
  });

  it("reads the kernel arguments of others, without those that each image gets", () => {
    const ours = descriptionFiles(plain)["config.xml"] ?? "";
    const [, each = ""] = /kernelcmdline="([^"]+)"/.exec(ours) ?? [];
    const theirs = ours.replace(each, `net.ifnames=0 ${each} crashkernel=256M`);
    expect(each).toContain("console=tty0");
    expect(imported({ "config.xml": theirs }).definition.configuration.settings).toMatchObject({
      kernel_arguments: "net.ifnames=0 crashkernel=256M",
    });
  });

  it("omits only passwords, which are hashed", () => {
    const { omitted } = imported(descriptionFiles(plain));
    expect(omitted.map(({ what }) => what)).toEqual(["users/user root/password"]);
  });
});

type Shown = Parameters<typeof manifestXml>[0];

/** The manifest of a build, with only those parts of the frozen input that it shows. */
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
  // A manifest shows only these parts of them.
  const shown = { uuid: "u", applianceUuid: "v", build: { builder: "kiwi 10" }, input } as unknown as Shown;
  return manifestXml(shown, serviceUrl);
}

/**
 * The sections that a manifest contains. All other sections of a configuration are absent from its elements and files.
 */
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
      // The original manifest contains the host name only with `manual`.
      ...(network && { network: network.type === "manual" ? { hostname: "", ...network } : { type: network.type } }),
      ...(users && { users: users.map(({ ssh_keys: _keys, administrator: _may, ...user }) => user) }),
      ...(lvm && { lvm }),
      settings: {
        ...(settings?.disk_size !== undefined && { disk_size: settings.disk_size }),
        ...(settings?.file_system !== undefined && { file_system: settings.file_system }),
        // A manifest does not show a swap file.
        ...(settings?.swap_in === "partition" && { swap_in: "partition", swap_size: settings.swap_size }),
        ...(settings?.kernel_arguments !== undefined && { kernel_arguments: settings.kernel_arguments }),
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
  it("imports the same appliance again, whatever the description contains", () => {
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
