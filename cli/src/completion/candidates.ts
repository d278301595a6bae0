import { applianceSchema, type Schema } from "../appliance-file/check.ts";
import type { Client } from "../client/client.ts";
import { imageTypes } from "../image-types.ts";
import { eventWords } from "../output/event.ts";
import { localPaths, type Placeholder } from "../placeholders.ts";

/** A word that may be completed, with its meaning. */
export interface Candidate {
  text: string;
  about?: string;
}

/** If it is "files", the shell itself completes file names. */
export type Candidates = readonly Candidate[] | "files";

interface Context {
  client: Client;
  /** The typed part of the word. */
  typed: string;
  /** The arguments before it, by their names. */
  given: Readonly<Partial<Record<Placeholder, string>>>;
}

type Source = (context: Context) => Promise<Candidates> | Candidates;

const words =
  (...all: string[]): Source =>
  () =>
    all.map((text) => ({ text }));

/** The candidates for each placeholder. Other placeholders have none. */
export const sources: Partial<Record<Placeholder, Source>> = {
  appliance: appliances,
  base: async ({ client }) => unique((await templates(client)).map(({ basesystem }) => ({ text: basesystem }))),
  build: builds,
  channel: async ({ client, given }) => {
    if (given.appliance === undefined) return [];
    const id = await idOf(client, given.appliance);
    const { channels } = await client.call("listChannels", { appliance_id: id });
    return channels.map(({ name, version }) => ({ text: name, ...(version !== undefined && { about: version }) }));
  },
  events: words(...Object.keys(eventWords)),
  on_or_off: words("on", "off"),
  overlay: async ({ client, given }) => {
    if (given.appliance === undefined) return [];
    const { files } = await client.call("listFiles", { appliance_id: await idOf(client, given.appliance) });
    return files.map(({ id, filename }) => ({ text: String(id), about: filename }));
  },
  package: packages,
  repository: async ({ client }) =>
    (await client.call("listRepositories", {})).repositories.map(({ id, name }) => ({ text: String(id), about: name })),
  scope: words("read", "build", "publish"),
  selected: async ({ client, given }) => {
    if (given.appliance === undefined) return [];
    const { software } = await client.call("getSoftware", { appliance_id: await idOf(client, given.appliance) });
    return unique(
      [...software.package, ...software.pattern].map(({ value: text, version }) => ({
        text,
        ...(version && { about: version }),
      })),
    );
  },
  setting: async (context) => await settings(context),
  setting_value: async (context) => {
    const [setting = "", value] = context.typed.split("=");
    if (value === undefined) return (await settings(context)).map(({ text }) => ({ text: `${text}=` }));
    return valuesOf(setting).map((one) => ({ text: `${setting}=${one}` }));
  },
  shell: words("bash", "zsh", "fish"),
  source: async (context) => [
    ...(await templates(context.client)).map(({ name, basesystem }) => ({ text: name, about: basesystem })),
    ...(await appliances(context)),
  ],
  testdrive: async ({ client }) =>
    (await client.call("listTestdrives", {})).testdrives.map((one) => ({
      text: String(one.id),
      about: `of build ${one.build_id}`,
    })),
  token: async ({ client }) =>
    (await client.call("listTokens", {})).tokens.map(({ id, name }) => ({ text: String(id), about: name })),
  types: ({ typed }) => {
    const chosen = typed.split(",").slice(0, -1);
    const others = imageTypes.filter((type) => !chosen.includes(type));
    return others.map((type) => ({ text: [...chosen, type].join(",") }));
  },
  version: async ({ client, given }) => {
    if (given.appliance === undefined) return [];
    const { builds: all } = await client.call("listBuilds", { appliance_id: await idOf(client, given.appliance) }); // the newest
    return unique(all.map(({ version }) => ({ text: version })));
  },
  webhook: async ({ client }) =>
    (await client.call("listWebhooks", {})).webhooks.map(({ id, url }) => ({ text: String(id), about: url })),
};
sources.other = builds;
for (const path of localPaths) sources[path] = () => "files";

/** The names of appliances, or ids for those that share a name. */
async function appliances({ client }: Context): Promise<Candidate[]> {
  const { appliances: all } = await client.call("listAppliances", {});
  return all.map(({ id, name, basesystem }) => {
    const isUnique = all.filter((one) => one.name === name).length === 1;
    return isUnique ? { text: name, about: `${id}, ${basesystem}` } : { text: String(id), about: name };
  });
}

async function builds({ client }: Context): Promise<Candidate[]> {
  const { appliances: all } = await client.call("listAppliances", {});
  const built = all.filter(({ builds: images }) => images.length > 0);
  return [
    ...built.map(({ name }) => ({ text: name, about: "its newest image" })),
    ...built.flatMap(({ name, builds: images }) =>
      images.map(({ id, version, image_type: type }) => ({ text: String(id), about: `${name} ${version} ${type}` })),
    ),
  ];
}

async function packages({ client, typed, given: { appliance } }: Context): Promise<Candidate[]> {
  if (appliance === undefined || typed === "") return [];
  const found = await client.call("searchSoftware", { appliance_id: await idOf(client, appliance), q: typed });
  return unique(found.software_map.flatMap(({ software }) => software.package.map(({ value: text }) => ({ text }))));
}

async function settings({ client, given: { appliance } }: Context): Promise<Candidate[]> {
  if (appliance === undefined) return [];
  const answer = await client.call("getConfiguration", { appliance_id: await idOf(client, appliance) });
  return pathsIn(answer.configuration).map((text) => ({ text }));
}

function pathsIn(section: object, before = ""): string[] {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? pathsIn(value, `${before}${name}.`)
      : [before + name],
  );
}

/** The values that a setting may have, if they are few: `network.type`. */
function valuesOf(setting: string): readonly string[] {
  const path = ["configuration", ...setting.split(".")];
  const schema = path.reduce<Schema | undefined>((inner, name) => inner?.properties?.[name], applianceSchema);
  return schema?.type === "boolean" ? ["true", "false"] : (schema?.enum ?? []);
}

const templates = async (client: Client) =>
  (await client.call("listTemplateSets", {})).template_sets.flatMap(({ template }) => template);

async function idOf(client: Client, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  const { appliances: all } = await client.call("listAppliances", {});
  return all.find(({ name }) => name === given)?.id ?? 0;
}

const unique = (all: readonly Candidate[]): Candidate[] => [...new Map(all.map((one) => [one.text, one])).values()];
