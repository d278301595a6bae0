import type { AnswerOf, Client, RequestOf } from "./client/client.ts";
import { Complaint } from "./complaint.ts";
import { endedBuilds, type EndedBuild } from "./builds/ended.ts";
import { imageTypes } from "./image-types.ts";

type ShownAppliance = AnswerOf<"listAppliances">["appliances"][number];

export type ImageType = NonNullable<RequestOf<"startBuild">["image_type"]>;

const isNumber = (text: string): boolean => /^\d{1,15}$/.test(text);

/** A numeric id from the command line. @param what the kind of object that it identifies, for the message */
export function numberOf(text: string, what: string): number {
  if (isNumber(text)) return Number(text);
  throw new Complaint(
    "misused",
    `${text} is not the id of ${/^[aeiou]/.test(what) ? "an" : "a"} ${what}.`,
    "An id is a number. The lists show them.",
  );
}

/** The id of an appliance, given by its id or its name. */
export async function applianceId(client: Client, given: string): Promise<number> {
  return isNumber(given) ? Number(given) : (await applianceNamed(client, given)).id;
}

async function applianceNamed(client: Client, name: string): Promise<ShownAppliance> {
  const { appliances } = await client.call("listAppliances", {});
  return oneNamed(appliances, { what: "appliance", name, next: "`kiln list` shows your appliances." });
}

/** The only one with this name. @param next where to find the others, for the message */
function oneNamed<Named extends { id: number; name: string }>(
  all: readonly Named[],
  { what, name, next }: { what: string; name: string; next: string },
): Named {
  const [first, ...others] = all.filter((one) => one.name === name);
  if (!first) throw new Complaint("notFound", `There is no ${what} called ${name}.`, next);
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(", ");
  throw new Complaint("refused", `There is more than one ${what} called ${name}.`, `Use its id: ${ids}.`);
}

/**
 * The id of a repository, given by its id or its name.
 *
 * @param appliance its id or name, if one of its repositories is meant; otherwise one of all that the account can see
 * is
 */
export async function repositoryId(client: Client, given: string, appliance?: string): Promise<number> {
  if (isNumber(given)) return Number(given);
  if (appliance === undefined) {
    const { repositories } = await client.call("listRepositories", { filter: given });
    const next = "`kiln repo search TEXT` finds repositories.";
    return oneNamed(repositories, { what: "repository", name: given, next }).id;
  }
  const { repositories } = await client.call("listApplianceRepositories", {
    appliance_id: await applianceId(client, appliance),
  });
  const next = "`kiln repo list APPLIANCE` shows its repositories.";
  return oneNamed(repositories, { what: "repository", name: given, next }).id;
}

/** The id of a template or an appliance, which can be cloned. */
export async function sourceId(client: Client, given: string): Promise<number> {
  if (isNumber(given)) return Number(given);
  const { template_sets: sets } = await client.call("listTemplateSets", {});
  const templates = sets.flatMap(({ template }) => template).filter(({ name }) => name === given);
  const [first] = templates;
  return first ? first.appliance_id : (await applianceNamed(client, given)).id;
}

/** The id of a build, given by its id, or by an appliance's name for its newest image: `First`, `First:iso`. */
export async function buildId(client: Client, given: string): Promise<number> {
  return (await imageIds(client, given, {}))[0] ?? 0;
}

/**
 * Selects images of an appliance: of a version, by default the newest, and either one of each type or only the newest.
 */
export interface Which {
  version?: string | undefined;
  isAll?: boolean | undefined;
}

/** `First:iso`: the appliance, and the type of the image if there is one. */
export function typeIn(given: string): { name: string; type: string | undefined } {
  const [, name = given, type] = new RegExp(`^(.+):(${imageTypes.join("|")})$`).exec(given) ?? [];
  return { name, type };
}

/** The ids of images, named in the same ways as builds. Returns at least one. */
export async function imageIds(client: Client, given: string, { version, isAll = false }: Which): Promise<number[]> {
  if (isNumber(given) && version === undefined && !isAll) return [Number(given)];
  const { name, type } = typeIn(given);
  const found: EndedBuild[] = [];
  for await (const one of endedBuilds(client, await applianceId(client, name))) {
    const isWanted =
      one.state === "finished" &&
      !one.expired &&
      (type === undefined || one.image_type === type) &&
      (version ?? found[0]?.version ?? one.version) === one.version;
    if (isWanted) found.push(one);
    if (isWanted && !isAll) break;
  }
  if (found.length > 0) return found.map(({ id }) => id);
  const how = type === undefined ? "" : ` --type ${type}`;
  const what = version === undefined ? given : `Version ${version} of ${given}`;
  throw new Complaint("notFound", `${what} has no image yet.`, `Build it: kiln build ${name}${how} --follow`);
}
