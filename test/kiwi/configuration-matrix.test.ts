import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { FrozenPackage } from "#lib/contract/index";
import { frozenConfiguration } from "#domain/builds/frozen-input";
import { encrypted } from "#domain/configuration/secrets";
import { imageFacts } from "#domain/images/facts";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { storedConfiguration } from "#lib/configuration/document";
import { Configuration } from "#lib/configuration/stored";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { fieldsIn } from "../support/fields.ts";
import { fullConfiguration as full } from "../support/full-configuration.ts";
import { imported } from "./support/imported.ts";

// A change of any single field of a configuration must change KIWI's description. docs/api/configuration.md explains
// the effect of each field in an image, and names the test.

/** Fields of the virtual machine. A testdrive also uses them. */
const machineFields = ["settings.memorySizeMb", "settings.cdromEnabled"];
/**
 * Fields that KIWI does not receive: those of the machine, those of the gallery, and those that an agent checks in the
 * image. If there are uploads, their repository's address reaches the image (test/web/machine-repositories.test.ts).
 */
const notInDescription = new Set([
  ...machineFields,
  "tags.0",
  "settings.publicClonable",
  "settings.publishWhen",
  "settings.automaticBuilds",
  "settings.automaticBuildsAt",
  "settings.updateUploads",
  ...Object.keys(full.checks[0] ?? {}).map((name) => `checks.0.${name}`),
]);

/** Values for fields that accept only a fixed set. */
const others: Record<string, unknown> = {
  "locale.keyboardLayout": "english-us",
  "locale.language": "fr_FR.UTF-8",
  "network.type": "dhcp",
  "network.netmask": "255.255.0.0",
  "databases.0.type": "mysql",
  "settings.firstBoot": "none",
  "settings.automaticUpdates": "none",
  "settings.diskEncryption": "none",
  "settings.fileSystem": "btrfs",
  "settings.swapIn": "file",
  "lvm.kind": "partitions",
  "settings.updatesRebootAt": "05:00",
  "settings.publishWhen": "always",
  "settings.automaticBuilds": "all",
  "settings.automaticBuildsAt": "05:00-06:00",
  "checks.0.kind": "console_text",
};

type Value = string | number | boolean | readonly Value[] | { [name: string]: Value };

/** `users.0.name` and so on, with their values. */
function leavesOf(value: Value, path = ""): [path: string, value: Value][] {
  if (typeof value !== "object") return [[path, value]];
  return Object.entries(value).flatMap(([name, below]) => leavesOf(below, path === "" ? name : `${path}.${name}`));
}

/** A different value of the same kind. */
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

let appliance: Appliance;
beforeAll(async () => {
  const found = await findAnyAppliance(openDatabase(env), await createAppliance(await signedIn()));
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
  const place = { env, db: openDatabase(env) };
  const row = { ...appliance, configuration: await encrypted(env, configuration) };
  return descriptionFiles((await imageFacts(place, row, { ...asked, packages: [kernel] })).facts);
}

const machineOf = (configuration: Configuration) => frozenConfiguration({ ...appliance, configuration });

describe("a configuration", () => {
  it("has a value in each of its fields in this test", () => {
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

  it("comes back from the description, except for fields that say why they do not", async () => {
    const { definition } = imported(await describedWith(full));
    const lost = fieldsIn(storedConfiguration).filter(
      ({ path }) => valuesAt(definition.configuration, path).length === 0,
    );
    const excused = fieldsIn(storedConfiguration).filter(({ notImported }) => notImported !== undefined);
    expect(lost.map(({ path }) => path)).toEqual(excused.map(({ path }) => path));
  });
});

/** In JSON, a list does not have its own element: the path of its item is that of the list. */
function valuesAt(value: unknown, path: string): unknown[] {
  const [name = "", ...rest] = path.split("/");
  if (path === "") return value === undefined || value === "" ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, typeof one === "object" ? rest.join("/") : ""));
  return valuesAt(Object(value)[name], rest.join("/"));
}
