import { stringify } from "yaml";
import { applianceSchema, closest, type Schema } from "../appliance-file/check.ts";
import { refusedIn, withNames } from "../appliance-file/setting-name.ts";
import type { RequestOf } from "../client/client.ts";
import { ServiceRefusal } from "../client/failure.ts";
import { command, flag } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../files.ts";
import { mask, masked } from "../output/secrets.ts";
import { applianceId } from "../resolve.ts";

/** A configuration or a part of it. */
type Value = string | number | boolean | Value[] | Section;
interface Section {
  [name: string]: Value;
}

export const configuration = [
  command("config get <appliance> [setting]", {
    tool: "reads",
    summary: "Show the configuration of an appliance, or a part of it",
    details: "Passwords are masked.",
    options: { showSecrets: flag("show passwords too") },
    examples: ["kiln config get First", "kiln config get First network.type"],
    act: async ({ client, show }, { appliance, setting, showSecrets }) => {
      const whole = await client.call("getConfiguration", { appliance_id: await applianceId(client, appliance) });
      const answer = showSecrets ? whole : masked(whole);
      if (setting === undefined) return show(answer, () => stringify(answer.configuration).trimEnd());
      const part = partOf(valueOf(answer.configuration), setting);
      return show({ [setting]: part }, () => (typeof part === "object" ? stringify(part).trimEnd() : String(part)));
    },
  }),
  command("config set <appliance> <setting_value...>", {
    summary: "Change settings of an appliance, all of them or none",
    details:
      "A setting is named by its path with dots, as `kiln config get` shows it. tags and firewall.open_port take words " +
      "separated by commas; other lists are JSON, as every value that begins with { or [. @FILE is the content of a file. " +
      "Settings that would have no effect with the others, such as an address with DHCP, are refused.",
    examples: [
      "kiln config set First network.type=dhcp settings.memory_size=1024",
      "kiln config set First firewall.open_port=ssh,http",
      "kiln config set First scripts.boot.script=@boot.sh scripts.boot.enabled=true",
    ],
    act: async ({ client, show }, { appliance, setting_value: given }) => {
      const change = merged(given.map(settingOf));
      // Not `changeConfiguration`, which drops settings that have no effect with the others, as it did in 2010. The
      // service checks the definition.
      const body = { definition: { configuration: change } } as RequestOf<"applyDefinition">["body"];
      const id = await applianceId(client, appliance);
      const { definition } = await client
        .call("applyDefinition", { appliance_id: id, body })
        .catch((error: unknown) => {
          throw asSetting(error);
        });
      const now = given.map((one) => {
        const name = settingOf(one).path.join(".");
        return `${name}: ${inOneLine(partOf(valueOf(definition.configuration), name))}`;
      });
      show({ configuration: definition.configuration }, () => now.join("\n"));
    },
  }),
];

/** A refusal with the name of the setting as it is written here: `network.ip`. */
function asSetting(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal) || error.code !== "invalid_node")
    return withNames(error, ([, ...path]) => path.join("."));
  const [, ...path] = refusedIn(error).path;
  const near = meantBy(path, configurationSchema);
  return new Complaint(
    "notFound",
    `There is no setting ${path.join(".")}.`,
    near === undefined ? "`kiln config get APPLIANCE` shows the settings by their names." : `Did you mean ${near}?`,
  );
}

/** The setting that was probably meant. Compares only the first unknown word with the known words at its place. */
function meantBy([word = "", ...inner]: readonly string[], { properties = {} }: Schema): string | undefined {
  const known = Object.hasOwn(properties, word) ? properties[word] : undefined;
  if (!known) return closest(word, Object.keys(properties));
  const near = meantBy(inner, known);
  return near && `${word}.${near}`;
}

const configurationSchema = applianceSchema.properties?.["configuration"] ?? applianceSchema;

interface Setting {
  path: readonly string[];
  value: Value;
}

function settingOf(given: string): Setting {
  const [, name, text] = /^([a-z_]+(?:\.[a-z_]+)*)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || text === undefined)
    throw new Complaint("misused", `${given} is not a setting and its value.`, "Write it as network.hostname=kiosk.");
  if (text.includes(mask))
    throw new Complaint(
      "misused",
      `${name} has a masked password.`,
      "`kiln config get --show-secrets` shows the real ones.",
    );
  return { path: name.split("."), value: readValue(name, text) };
}

/** Lists of single words. Other lists are written as JSON. */
const wordLists = new Set(["tags", "firewall.open_port"]);

function readValue(name: string, text: string): Value {
  if (text.startsWith("@")) return readText(text.slice(1), "@FILE must name a file on this machine.");
  if (/^[{[]/.test(text)) return parsed(name, text);
  return wordLists.has(name) ? text.split(",").filter((word) => word !== "") : text;
}

function parsed(name: string, text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new Complaint("misused", `The value of ${name} is not JSON.`, "A value that begins with { or [ must be.");
  }
}

/** One object with all settings at their paths. */
function merged(settings: readonly Setting[]): Section {
  const all: Section = {};
  for (const { path, value } of settings) {
    let section = all;
    for (const name of path.slice(0, -1)) section = sectionIn(section, name);
    section[path.at(-1) ?? ""] = value;
  }
  return all;
}

function sectionIn(section: Section, name: string): Section {
  const found = section[name];
  if (isSection(found)) return found;
  const made: Section = {};
  section[name] = made;
  return made;
}

function partOf(whole: Value, setting: string): Value {
  let part: Value | undefined = whole;
  for (const name of setting.split(".")) part = isSection(part) ? part[name] : undefined;
  if (part !== undefined) return part;
  if (isSetting(setting)) return "";
  throw new Complaint(
    "notFound",
    `There is no setting ${setting}.`,
    "`kiln config get APPLIANCE` shows the settings with a value.",
  );
}

/** Whether appliances can have a setting of that name. The service omits some of those that have no value. */
const isSetting = (name: string): boolean =>
  ["configuration", ...name.split(".")].reduce<Schema | undefined>(
    (schema, step) => schema?.properties?.[step],
    applianceSchema,
  ) !== undefined;

const isSection = (value: Value | undefined): value is Section => typeof value === "object" && !Array.isArray(value);

const inOneLine = (value: Value): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** An answer comes from JSON, so it contains only such values. */
const valueOf = (document: object): Value => document as Section;
