import { closest } from "../appliance-file/check.ts";
import type { Client, RequestOf } from "../client/client.ts";
import { command, flag, value } from "../command.ts";
import { Complaint, type Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { byCommands, effectText } from "../output/effect.ts";
import { table } from "../output/table.ts";
import { applianceId, repositoryId } from "../resolve.ts";

const pattern = flag("the names are those of patterns");
const dryRun = flag("only show what it would do");
const force = flag("do it even if the software cannot be installed then");

export const software = [
  command("search <appliance> <text>", {
    tool: "reads",
    summary: "Find packages and patterns for an appliance",
    options: {
      allFields: flag("search summaries and descriptions too"),
      allRepos: flag("search every repository that you can see, not only the appliance's"),
    },
    act: async ({ client, show, paint }, { appliance, text, allFields, allRepos }) => {
      const answer = await client.call("searchSoftware", {
        appliance_id: await applianceId(client, appliance),
        q: text,
        all_fields: allFields,
        all_repos: allRepos,
      });
      const rows = answer.software_map.flatMap(({ id, name: from, software: found }) => [
        ...found.pattern.map((one) => [one.value, "pattern", one.version, one.arch, `${from} (${id})`]),
        ...found.package.map((one) => [one.value, "package", one.version, one.arch, `${from} (${id})`]),
      ]);
      show(answer, () => table(paint, ["NAME", "KIND", "VERSION", "ARCH", "REPOSITORY"], rows));
    },
  }),
  command("add <appliance> <package...>", {
    tool: "writes",
    summary: "Select packages, and show what the image gains",
    details: "Software that cannot be installed is not selected, except with --force.",
    options: { pattern, repository: value("repository", "only from this repository"), dryRun, force },
    examples: ["kiln add First hello", "kiln add First hello=1.0-1 --dry-run", "kiln add --pattern First base"],
    act: async (kiln, { appliance, package: names, pattern: isPattern, repository, ...how }) => {
      const from = repository === undefined ? undefined : await repositoryId(kiln.client, repository, appliance);
      return await change(
        kiln,
        { ...how, appliance, names, kind: isPattern ? "add_pattern" : "add_package", from },
        (id, given) => {
          const [name = "", version] = given.split("=", 2);
          const request = { appliance_id: id, name, version: version || undefined, repository_id: from };
          return kiln.client.call(isPattern ? "addPattern" : "addPackage", request);
        },
      );
    },
  }),
  command("remove <appliance> <selected...>", {
    tool: "writes",
    summary: "Deselect packages, and show what the image loses",
    options: { pattern, dryRun },
    act: async (kiln, { appliance, selected: names, pattern: isPattern, dryRun: isDry }) => {
      const kind = isPattern ? "remove_pattern" : "remove_package";
      return await change(kiln, { appliance, names, kind, dryRun: isDry, force: true }, (id, name) =>
        kiln.client.call(isPattern ? "removePattern" : "removePackage", { appliance_id: id, name }),
      );
    },
  }),
  command("ban <appliance> <package...>", {
    tool: "writes",
    summary: "Keep packages out of the image, even if others need them",
    options: { dryRun, force },
    act: async (kiln, { appliance, package: names, ...how }) =>
      await change(kiln, { ...how, appliance, names, kind: "ban_package" }, (id, name) =>
        kiln.client.call("banPackage", { appliance_id: id, name }),
      ),
  }),
  command("unban <appliance> <package...>", {
    tool: "writes",
    summary: "Allow banned packages again",
    options: { dryRun },
    act: async (kiln, { appliance, package: names, dryRun: isDry }) =>
      await change(kiln, { appliance, names, kind: "unban_package", dryRun: isDry, force: true }, (id, name) =>
        kiln.client.call("unbanPackage", { appliance_id: id, name }),
      ),
  }),
];

interface Change {
  appliance: string;
  names: readonly string[];
  kind: Exclude<keyof RequestOf<"getSoftwareEffect">, "appliance_id" | "repository_id">;
  /** The id of the repository that the names must come from. */
  from?: number | undefined;
  /** Only shows the effect. */
  dryRun: boolean;
  /** Makes the change even if the software cannot be installed afterwards. */
  force: boolean;
}

/** Shows the effect of all changes together, and makes them one after the other. */
async function change(
  kiln: Kiln,
  { appliance, names, kind, from, dryRun: isDry, force: isForced }: Change,
  make: (id: number, name: string) => Promise<unknown>,
): Promise<Exit> {
  const id = await applianceId(kiln.client, appliance);
  await refuseAbsent(kiln.client, id, { appliance, kind, names });
  const request = { appliance_id: id, [kind]: names, repository_id: from };
  const answer = await kiln.client.call("getSoftwareEffect", request);
  const effect = answer.software_effect;
  const isBroken = effect.state === "unsolvable";
  const isMade = !isDry && (isForced || !isBroken);
  if (isMade) for (const name of names) await make(id, name);
  kiln.show({ ...answer, made: isMade }, () => effectText(kiln.paint, byCommands(appliance), effect));
  if (isDry) kiln.note("Nothing was changed: --dry-run.");
  else if (!isMade) kiln.note("Nothing was changed, because it cannot be installed.");
  return isBroken ? "unbuildable" : "done";
}

/** The commands that remove names, and the list from which each removes them. */
const lists = { remove_package: "packages", remove_pattern: "patterns", unban_package: "bans" } as const;
const isTaking = (kind: string): kind is keyof typeof lists => Object.hasOwn(lists, kind);

/** The service accepts names that are not in the list, as it did in 2010. Here they are typing errors. */
async function refuseAbsent(
  client: Client,
  id: number,
  { appliance, kind, names }: Pick<Change, "appliance" | "kind" | "names">,
): Promise<void> {
  if (!isTaking(kind)) return;
  const list = lists[kind];
  const { definition } = await client.call("getDefinition", { appliance_id: id });
  const known = definition[list].map(({ name }) => name);
  const absent = names.filter((name) => !known.includes(name));
  if (absent.length === 0) return;
  const near = closest(absent[0] ?? "", known);
  throw new Complaint(
    "notFound",
    `${definition.name} has no ${absent.join(", ")} among its ${list}.`,
    near === undefined ? `\`kiln show ${appliance}\` lists them.` : `Did you mean ${near}?`,
  );
}
