import type { AnswerOf, Client } from "../client/client.ts";
import { command, flag, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { count, table, visible } from "../output/table.ts";
import { applianceId, numberOf } from "../resolve.ts";

const pattern = flag("the names are those of patterns");

export const software = [
  command("search <appliance> <text>", {
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
    summary: "Select packages, and say what the image gains",
    options: { pattern, repository: value("repository", "only from this repository") },
    examples: ["kiln add First hello", "kiln add First hello=1.0-1", "kiln add --pattern First base"],
    act: async (kiln, { appliance, package: names, pattern: isPattern, repository }) => {
      const from = repository === undefined ? {} : { repository_id: numberOf(repository, "repository") };
      await change(kiln, appliance, names, (client, id, given) => {
        const [name = "", version] = given.split("=", 2);
        const request = { appliance_id: id, name, ...(version && { version }), ...from };
        return client.call(isPattern ? "addPattern" : "addPackage", request);
      });
    },
  }),
  command("remove <appliance> <package...>", {
    summary: "Deselect packages, and say what the image loses",
    options: { pattern },
    act: async (kiln, { appliance, package: names, pattern: isPattern }) =>
      await change(kiln, appliance, names, (client, id, name) =>
        client.call(isPattern ? "removePattern" : "removePackage", { appliance_id: id, name }),
      ),
  }),
  command("ban <appliance> <package...>", {
    summary: "Keep packages out of the image, even if others need them",
    act: async (kiln, { appliance, package: names }) =>
      await change(kiln, appliance, names, (client, id, name) => client.call("banPackage", { appliance_id: id, name })),
  }),
  command("unban <appliance> <package...>", {
    summary: "Allow banned packages again",
    act: async (kiln, { appliance, package: names }) =>
      await change(kiln, appliance, names, (client, id, name) =>
        client.call("unbanPackage", { appliance_id: id, name }),
      ),
  }),
];

type Change = (client: Client, id: number, name: string) => Promise<AnswerOf<"addPackage">>;

/** Makes the changes one after the other, and shows what they do to the image together. */
async function change(kiln: Kiln, appliance: string, names: readonly string[], make: Change): Promise<void> {
  const { client } = kiln;
  const id = await applianceId(client, appliance);
  const before = await sizeOf(client, id);
  const states = [];
  for (const name of names) states.push((await make(client, id, name)).success.details.status);
  const effect = {
    state: states.at(-1)?.state ?? "equal",
    packages_added: sum(states.map((one) => one.packages_added)),
    packages_removed: sum(states.map((one) => one.packages_removed)),
    megabytes: (await sizeOf(client, id)) - before,
  };
  kiln.show({ effect }, () => effectLine(effect));
  const broken = states.findLast(({ state }) => state === "broken");
  if (effect.state === "broken")
    throw new Complaint(
      "unbuildable",
      visible(broken?.message ?? "The selection cannot be installed together."),
      `It is stored all the same. kiln status ${appliance} says what is wrong; or undo the change.`,
    );
}

interface Effect {
  state: string;
  packages_added: number;
  packages_removed: number;
  megabytes: number;
}

/** `+12 packages, -1 package, +38 MB` */
function effectLine({ packages_added: added, packages_removed: removed, megabytes }: Effect): string {
  const parts = [
    added > 0 && `+${count(added, "package")}`,
    removed > 0 && `-${count(removed, "package")}`,
    megabytes !== 0 && `${megabytes > 0 ? "+" : ""}${megabytes} MB`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(", ") : "Nothing changes in the image.";
}

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

/** The appliance's estimated size, in megabytes. */
async function sizeOf(client: Client, id: number): Promise<number> {
  const { appliance } = await client.call("getAppliance", { appliance_id: id });
  const [, amount, unit] = /^([\d.]+) ?([MG])B$/.exec(appliance.estimated_raw_size) ?? [];
  return Math.round(Number(amount ?? 0) * (unit === "G" ? 1000 : 1));
}
