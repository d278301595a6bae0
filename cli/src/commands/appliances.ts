import type { Client } from "../client/client.ts";
import { ServiceRefusal } from "../client/failure.ts";
import { command, flag, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { ask } from "../login/ask.ts";
import { applianceId, sourceId } from "../resolve.ts";
import { facts, megabytes, moment, table, visible } from "../output/table.ts";

/** The API's own default is i686, as in 2010. */
export const defaultArch = "x86_64";
export const arches = [defaultArch, "i686", "aarch64"];
export const arch = value("text", `${arches.join(", ")}; the default is ${defaultArch}`);
export const archOfClone = value("text", `${arches.join(", ")}; the default is that of the source`);

export const appliances = [
  command("templates", {
    tool: "reads",
    summary: "List what an appliance can be cloned from",
    act: async ({ client, show, paint }) => {
      const answer = await client.call("listTemplateSets", {});
      const rows = answer.template_sets.flatMap(({ name: set, template }) =>
        template.map(({ appliance_id: id, name, basesystem, description }) => [id, name, basesystem, set, description]),
      );
      rows.sort(([one], [other]) => Number(one) - Number(other));
      show(answer, () => table(paint, ["ID", "NAME", "BASE", "SET", "DESCRIPTION"], rows));
    },
  }),
  command("clone <source> [name]", {
    tool: "writes",
    summary: "Make an appliance from a template or another appliance",
    details: "The clone has everything but the builds. A published appliance of the gallery is cloned by its id.",
    options: { arch: archOfClone },
    examples: ["kiln clone 1 First"],
    act: async ({ client, show }, { source, name, arch: wanted }) => {
      const from = await sourceId(client, source);
      const answer = await client.call("cloneAppliance", {
        clone_from: from,
        arch: wanted ?? (await archOf(client, from)),
        name,
      });
      const { id, name: made, basesystem } = answer.appliance;
      show(answer, () => `${made} is appliance ${id}, based on ${basesystem}.`);
    },
  }),
  command("list", {
    tool: "reads",
    summary: "List your appliances",
    act: async ({ client, show, paint }) => {
      const answer = await client.call("listAppliances", {});
      const rows = answer.appliances.map((one) => [
        one.id,
        one.name,
        one.basesystem,
        one.arch,
        one.type,
        one.estimated_raw_size,
        one.builds.length,
        moment(one.last_edited),
      ]);
      show(answer, () => table(paint, ["ID", "NAME", "BASE", "ARCH", "TYPE", "SIZE", "IMAGES", "EDITED"], rows));
    },
  }),
  command("show <appliance>", {
    tool: "reads",
    summary: "Show an appliance, its selection and its images",
    act: async ({ client, show, paint }, { appliance }) => {
      const id = { appliance_id: await applianceId(client, appliance) };
      const [shown, selected, { definition }] = await Promise.all([
        client.call("getAppliance", id),
        client.call("getSoftware", id),
        client.call("getDefinition", id),
      ]);
      const bans = definition.bans.map(({ name }) => name);
      const { builds, parent, ...one } = shown.appliance;
      const images = builds.map((build) => [
        build.id,
        build.version,
        build.image_type,
        megabytes(build.compressed_image_size || build.image_size),
      ]);
      show({ ...shown, ...selected, bans }, () =>
        [
          facts(paint, {
            Id: one.id,
            Name: one.name,
            Base: one.basesystem,
            Architecture: one.arch,
            Type: one.type,
            "Cloned from": parent && `${parent.name} (${parent.id})`,
            "Estimated size": one.estimated_raw_size,
            Edited: moment(one.last_edited),
            Patterns: names(selected.software.pattern),
            Packages: names(selected.software.package),
            Banned: bans.join(", "),
            Page: one.edit_url,
          }),
          images.length > 0
            ? table(paint, ["BUILD", "VERSION", "TYPE", "SIZE"], images)
            : `It has no image yet: \`kiln build ${visible(appliance)}\` makes one.`,
        ].join("\n\n"),
      );
    },
  }),
  command("status <appliance>", {
    tool: "reads",
    summary: "Show whether an appliance can be built, and what is missing",
    details: "The exit code is 3 if it cannot be built.",
    act: async ({ client, show, paint }, { appliance }) => {
      const answer = await client.call("getApplianceStatus", { appliance_id: await applianceId(client, appliance) });
      const { state, issues } = answer.status;
      const lines = issues.map(({ type, text, solution, repository }) => {
        const what = type === "error" ? paint.red("error") : paint.yellow("warning");
        const verb = solution?.type === "install" ? "add" : "remove";
        const way =
          repository === undefined
            ? solution && `${verb} ${appliance} ${solution.package}`
            : `repo add ${appliance} ${repository}`;
        return `${what}: ${text}${way === undefined ? "" : ` Try: kiln ${way}`}`;
      });
      show(answer, () =>
        [state === "ok" ? paint.green("It can be built.") : "It cannot be built.", ...lines].join("\n"),
      );
      return state === "ok" ? "done" : "unbuildable";
    },
  }),
  command("delete <appliance>", {
    tool: "destroys",
    summary: "Delete an appliance with its files and builds",
    details: "On a terminal, it asks first.",
    options: { yes: flag("do not ask") },
    act: async ({ client, show }, { appliance, yes }) => {
      if (!yes) await confirm(appliance);
      const answer = await client.call("deleteAppliance", { appliance_id: await applianceId(client, appliance) });
      show(answer, () => `Deleted ${appliance}.`);
    },
  }),
];

async function confirm(appliance: string): Promise<void> {
  if (!process.stdin.isTTY) return;
  const answer = await ask(`Delete ${visible(appliance)} with its files and images? This cannot be undone. [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Complaint("refused", "Nothing was deleted.", "Answer y, or use --yes.");
}

/** Selected packages, as arguments of `kiln add`. */
const names = (all: readonly { value: string; version?: string }[]): string =>
  all.map(({ value: name, version }) => (version ? `${name}=${version}` : name)).join(" ");

/** The architecture of an appliance, or of its publication if the account may read only that. */
export async function archOf(client: Client, id: number): Promise<string> {
  const path = { appliance_id: id };
  const own = await unlessRefused(client.call("getAppliance", path));
  if (own) return own.appliance.arch;
  // If this is refused too, so is the clone, and its refusal says more.
  const published = await unlessRefused(client.call("getPublication", path));
  return published?.gallery.appliance.arch ?? defaultArch;
}

const unlessRefused = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof ServiceRefusal && [400, 403, 404].includes(error.status)) return undefined;
    throw error;
  });
