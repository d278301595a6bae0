import { closest } from "../appliance-file/check.ts";
import type { AnswerOf, Client, RequestOf } from "../client/client.ts";
import { command, flag, value } from "../command.ts";
import { Complaint, type Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { byCommands, effectText } from "../output/effect.ts";
import { table, visible } from "../output/table.ts";
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
    options: {
      pattern,
      repository: value("repository", "only from this repository, which --dry-run does not consider"),
      dryRun,
      force,
    },
    examples: ["kiln add First hello", "kiln add First hello=1.0-1 --dry-run", "kiln add --pattern First base"],
    act: async (kiln, { appliance, package: names, pattern: isPattern, repository, ...how }) => {
      const { client } = kiln;
      const add = isPattern ? "addPattern" : "addPackage";
      const from = repository === undefined ? undefined : await repositoryId(client, repository, appliance);
      return await change(
        kiln,
        { ...how, appliance, names, kind: isPattern ? "add_pattern" : "add_package" },
        async (id, given) => {
          const [name = "", version] = given.split("=", 2);
          const request = { appliance_id: id, name, version: version || undefined, repository_id: from };
          return await client.call(add, request);
        },
        from === undefined ? undefined : await undoingAdditions(client, appliance, isPattern),
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
  kind: Exclude<keyof RequestOf<"getSoftwareEffect">, "appliance_id">;
  /** Only shows the effect. */
  dryRun: boolean;
  /** Makes the change even if the software cannot be installed afterwards. */
  force: boolean;
}

/** Shows the effect of all changes together, and makes them one after the other. */
async function change(
  kiln: Kiln,
  { appliance, names, kind, dryRun: isDry, force: isForced }: Change,
  make: Make,
  undo?: Undo,
): Promise<Exit> {
  const id = await applianceId(kiln.client, appliance);
  await refuseAbsent(kiln.client, id, { appliance, kind, names });
  const answer = await kiln.client.call("getSoftwareEffect", { appliance_id: id, [kind]: names });
  const effect = answer.software_effect;
  const isBroken = effect.state === "unsolvable";
  const isTried = !isDry && (isForced || !isBroken);
  const undoing = isForced || effect.state !== "solved" ? undefined : undo;
  const found = isTried ? await makeAll(id, names, make, undoing) : undefined;
  // Otherwise, the effect has the problems; or a repository is being imported, and nothing is known yet.
  const problem = effect.state === "solved" ? found : undefined;
  const isMade = isTried && (problem === undefined || !undoing);
  kiln.show({ ...answer, made: isMade, ...(problem !== undefined && { problem }) }, () =>
    problem === undefined
      ? effectText(kiln.paint, byCommands(appliance), effect)
      : `${kiln.paint.red("error")}: ${visible(problem)}`,
  );
  if (isDry) kiln.note("Nothing was changed: --dry-run.");
  else if (!isMade) kiln.note("Nothing was changed, because it cannot be installed.");
  return isBroken || problem !== undefined ? "unbuildable" : "done";
}

type Make = (id: number, name: string) => Promise<AnswerOf<"addPackage">>;
type Undo = (id: number, name: string) => Promise<unknown>;

/**
 * Makes changes one after the other. Returns why the software cannot be installed afterwards, and undoes them then if
 * there is an `undo`.
 */
async function makeAll(
  id: number,
  names: readonly string[],
  make: Make,
  undo: Undo | undefined,
): Promise<string | undefined> {
  let problem: string | undefined;
  for (const [nth, name] of names.entries()) {
    const { state, message } = (await make(id, name)).success.details.status;
    problem =
      state === "broken" ? (message ?? `The software cannot be installed after this change: ${name}.`) : undefined;
    if (problem === undefined || !undo) continue;
    for (const made of names.slice(0, nth + 1).toReversed()) await undo(id, made);
    return problem;
  }
  return problem;
}

/**
 * Undoes additions from a repository: the effect of a change does not consider it, so only the answer shows whether
 * they can be installed. A name that was selected before gets its version back.
 */
async function undoingAdditions(client: Client, appliance: string, isPattern: boolean): Promise<Undo> {
  const { software: before } = await client.call("getSoftware", { appliance_id: await applianceId(client, appliance) });
  const [add, remove] = isPattern
    ? (["addPattern", "removePattern"] as const)
    : (["addPackage", "removePackage"] as const);
  return async (id, given) => {
    const [name = ""] = given.split("=", 1);
    const selected = before[isPattern ? "pattern" : "package"].find((one) => one.value === name);
    const request = { appliance_id: id, name };
    return await (selected
      ? client.call(add, { ...request, version: selected.version })
      : client.call(remove, request));
  };
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
