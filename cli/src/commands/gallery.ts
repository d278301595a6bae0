import type { Client, RequestOf } from "../client/client.ts";
import { command, flag, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../files.ts";
import { archOf, archOfClone } from "./appliances.ts";
import { ask } from "../login/ask.ts";
import type { Kiln } from "../kiln.ts";
import { facts, moment, table, visible, visibleLines } from "../output/table.ts";
import { applianceId, numberOf } from "../resolve.ts";

export const gallery = [
  command("publish <appliance> <version>", {
    summary: "Publish a built version in the gallery",
    details:
      "First lists what others would learn from it, such as passwords and files that look like secrets, and asks.",
    options: {
      notes: value("text", "the release notes"),
      notesFile: value("file", "a file with the release notes"),
      draft: flag("use the service's draft of what changed since the version published before"),
      yes: flag("do not ask"),
    },
    act: async (kiln, { appliance, version, notes, notesFile, draft, yes }) => {
      const { client } = kiln;
      const which = { appliance_id: await applianceId(client, appliance), version };
      if (!yes) await confirm(kiln, which);
      const next = "--notes-file must name a file on this machine.";
      const text = draft ? await draftOf(client, which) : notesFile === undefined ? notes : readText(notesFile, next);
      const answer = await client.call("publishVersion", { ...which, body: text });
      kiln.show(answer, () => `${answer.gallery.appliance.name} ${version} is in the gallery.`);
    },
  }),
  command("unpublish <appliance> <version>", {
    summary: "Take a version out of the gallery",
    act: async ({ client, show }, { appliance, version }) => {
      const id = await applianceId(client, appliance);
      const answer = await client.call("unpublishVersion", { appliance_id: id, version });
      show(answer, () => `${appliance} ${version} is no longer in the gallery.`);
    },
  }),
  command("gallery search [text]", {
    tool: "reads",
    summary: "Find published appliances: by words, of an account, the best rated, or the latest",
    options: {
      popular: flag("the best rated first"),
      by: value("account", "those of this account"),
      page: value("number", "page of the list"),
    },
    act: async ({ client, show, paint }, { text, popular, by, page }) => {
      const query = queryOf({ text, by, popular });
      const answer = await client.call("listGallery", { ...query, page });
      const { appliance: found, current_page: current, pages } = answer.gallery.appliances;
      const rows = found.map((one) => [
        one.id,
        one.name,
        one.username,
        one.based_on,
        one.average_rating,
        moment(one.date),
      ]);
      show(answer, () =>
        [
          table(paint, ["ID", "NAME", "BY", "BASED ON", "RATING", "PUBLISHED"], rows),
          ...(pages > current ? [`Page ${current} of ${pages}. For more: --page ${current + 1}`] : []),
        ].join("\n"),
      );
    },
  }),
  command("gallery show <published>", {
    tool: "reads",
    summary: "Show a published appliance",
    act: async ({ client, show, paint }, { published }) => {
      const id = { appliance_id: numberOf(published, "published appliance") };
      const [answer, versions] = await Promise.all([
        client.call("getPublication", id),
        client.call("listPublishedVersions", id),
      ]);
      const one = answer.gallery.appliance;
      show(answer, () =>
        [
          facts(paint, {
            Id: one.id,
            Name: one.name,
            Version: one.version,
            Versions: versions.gallery.appliance.versions.join(", "),
            By: `${one.publisher} (${one.username})`,
            "Based on": one.based_on,
            Formats: one.formats.map(({ value: format }) => format).join(", "),
            Page: one.homepage,
          }),
          ...[one.description, one.release_notes].filter((text) => text !== "").map(visibleLines),
        ].join("\n\n"),
      );
    },
  }),
  command("gallery clone <published> [name]", {
    tool: "writes",
    summary: "Make an appliance of yours from a published one",
    options: { arch: archOfClone },
    act: async ({ client, show }, { published, name, arch: wanted }) => {
      const from = numberOf(published, "published appliance");
      const arch = wanted ?? (await archOf(client, from));
      const answer = await client.call("cloneAppliance", { clone_from: from, arch, name });
      show(answer, () => `${answer.appliance.name} is appliance ${answer.appliance.id}.`);
    },
  }),
];

/** The API has a list for each, and no list for two of them. */
function queryOf({ text, by, popular }: { text: string | undefined; by: string | undefined; popular: boolean }) {
  const queries = [
    text !== undefined && { search: text },
    by !== undefined && { username: by },
    popular && { popular: "1" },
  ].filter((query) => query !== false);
  const [query = { latest: "1" }, other] = queries;
  if (other === undefined) return query;
  throw new Complaint("misused", "Words, --by and --popular exclude each other.", "Use one of them.");
}

type Version = RequestOf<"draftReleaseNotes">;

async function confirm({ client, note }: Kiln, which: Version): Promise<void> {
  const { warnings } = (await client.call("listSharingWarnings", which)).sharing_warnings;
  for (const { text } of warnings) note(`warning: ${visible(text)}`);
  if (process.stdin.isTTY && /^y(es)?$/i.test(await ask("Publish it for every account? [y/N] "))) return;
  throw new Complaint("refused", "Nothing was published.", "Answer y on a terminal, or use --yes.");
}

const draftOf = async (client: Client, which: Version): Promise<string> =>
  (await client.call("draftReleaseNotes", which)).gallery.appliance.release_notes;
