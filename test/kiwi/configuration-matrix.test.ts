import { sshKeys } from "../support/ssh-keys.ts";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { FrozenPackage } from "#lib/contract/index";
import { frozenConfiguration } from "#domain/builds/frozen-configuration";
import { sealed } from "#domain/configuration/secrets";
import { imageFacts } from "#domain/images/facts";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { Configuration } from "#lib/configuration/stored";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";

// Each field of a configuration, changed alone, must change KIWI's description. docs/api/configuration.md says what a field
// does in an image, and where that is tested.

const script = { enabled: true, script: "true" };
/** Has a value in every field. */
const full: Configuration = {
  description: "Sells tickets",
  website: "http://kiosk.example/",
  tags: ["kiosk"],
  locale: { keyboardLayout: "german", language: "de_DE.UTF-8", timezone: "Europe/Vienna" },
  network: {
    type: "manual",
    hostname: "kiosk7",
    ip: "192.0.2.7",
    netmask: "255.255.255.0",
    route: "192.0.2.1",
    nameservers: ["192.0.2.2"],
  },
  firewall: { enabled: true, openPorts: ["ssh"] },
  users: [
    {
      uid: 0,
      name: "root",
      password: "linux",
      group: "root",
      shell: "/bin/bash",
      homedir: "/root",
      sshKeys: [sshKeys.ed25519],
      administrator: true,
    },
  ],
  eulas: ["Do not feed the kiosk."],
  databases: [{ type: "pgsql", users: [{ username: "tickets", password: "s3same", databases: ["prod"] }] }],
  autostarts: [{ command: "/bin/true", description: "Counter", enabled: true, user: "root" }],
  settings: {
    memorySizeMb: 256,
    diskSizeMb: 700,
    swapSizeMb: 64,
    paeEnabled: true,
    xenHostModeEnabled: true,
    cdromEnabled: true,
    webyastEnabled: true,
    liveInstallerEnabled: true,
    publicClonable: true,
    runlevel: 3,
    automaticLogin: "root",
  },
  lvm: { enabled: true, volumeGroup: "systemVG", volumes: [{ sizeMb: 100, path: "/srv" }] },
  scripts: { build: script, boot: script, autoyast: script },
};

/** Fields of the machine next to an image, which a testdrive also uses. */
const machineFields = ["settings.memorySizeMb", "settings.cdromEnabled"];
/** Fields that KIWI does not get: those of the machine, and those of the gallery. */
const notInDescription = new Set([...machineFields, "tags.0", "settings.publicClonable"]);

/** Values for fields that accept only a fixed set. */
const others: Record<string, unknown> = {
  "locale.keyboardLayout": "english-us",
  "locale.language": "fr_FR.UTF-8",
  "network.type": "dhcp",
  "network.netmask": "255.255.0.0",
  "databases.0.type": "mysql",
};

type Value = string | number | boolean | readonly Value[] | { [name: string]: Value };

/** `users.0.name` and so on, with their values. */
function leavesOf(value: Value, path = ""): [path: string, value: Value][] {
  if (typeof value !== "object") return [[path, value]];
  return Object.entries(value).flatMap(([name, below]) => leavesOf(below, path === "" ? name : `${path}.${name}`));
}

/** Another value of the same kind. */
function other(path: string, value: Value): unknown {
  if (path in others) return others[path];
  if (typeof value === "boolean") return !value;
  return typeof value === "number" ? value + 1 : `${value}9`;
}

function changed(path: string): Configuration {
  const copy = structuredClone(full);
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at: unknown = copy;
  for (const name of names) at = Object(at)[name];
  Object(at)[last] = other(path, Object(at)[last]);
  return Configuration.parse(copy);
}

const named = (value: object): string[] => Object.keys(value).toSorted();

let appliance: Appliance;
beforeAll(async () => {
  const found = await findAnyAppliance(openDatabase(env.DB), await createAppliance(await signedIn()));
  if (!found) throw new Error("there is no appliance");
  appliance = found;
});

/** The kernel of a 32-bit image, for which PAE matters. */
const kernel: FrozenPackage = {
  name: "kernel-default",
  epoch: 0,
  version: "6.1",
  release: "1",
  arch: "i586",
  repository: "main",
  location: "i586/kernel-default.rpm",
  size: 1,
  checksum: { type: "sha256", value: "0".repeat(64) },
};

async function describedWith(configuration: Configuration): Promise<Record<string, string>> {
  const asked = { version: "0.0.1", imageType: "oem", name: "Kiosk", bootstrap: null } as const;
  const place = { env, db: openDatabase(env.DB) };
  const row = { ...appliance, configuration: await sealed(env, configuration) };
  return descriptionFiles((await imageFacts(place, row, { ...asked, packages: [kernel] })).facts);
}

const machineOf = (configuration: Configuration) => frozenConfiguration({ ...appliance, configuration });

describe("a configuration", () => {
  it("has a value in each of its fields in this test", () => {
    const { locale, users } = full;
    const smallest = Configuration.parse({ locale, users, settings: { memorySizeMb: 512, diskSizeMb: 512 } });
    expect(named(full)).toEqual(named(smallest));
    expect(named(full.settings)).toEqual(named(smallest.settings));
    expect(
      leavesOf(full)
        .filter(([, value]) => value === "" || value === 0)
        .map(([path]) => path),
    ).toEqual(["users.0.uid"]);
  });

  it.each(leavesOf(full).map(([path]) => [path, notInDescription.has(path) ? "does not reach" : "reaches"]))(
    "with another %s %s the description",
    async (path, reaches) => {
      const [before, after] = [await describedWith(full), await describedWith(changed(path))];

      expect(JSON.stringify(before) === JSON.stringify(after)).toBe(reaches !== "reaches");
    },
  );

  it.each(machineFields)("with another %s changes the machine described next to the image", (path) => {
    expect(machineOf(changed(path))).not.toEqual(machineOf(full));
  });
});
