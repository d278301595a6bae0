import { applyFile, planFile, postSchematic, seenFor } from "../appliance-file/apply.ts";
import { exportAppliance } from "../appliance-file/export.ts";
import { folderFor, refuseOverwriting, targetOf, writeTo } from "../appliance-file/folder.ts";
import type { Written } from "../appliance-file/write.ts";
import type { Client } from "../client/client.ts";
import { command, flag, value } from "../command.ts";
import { Complaint, type Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { planText } from "../output/plan.ts";
import { bytes, count, visible } from "../output/table.ts";
import { applianceId, numberOf } from "../resolve.ts";

const id = value("id", "the appliance, if the file has another name for it");

interface Applying {
  file: string;
  id: string | undefined;
  ifMatch: string | undefined;
  force: boolean;
}

export const definitions = [
  command("export [appliance] [target]", {
    summary: "Write an appliance as a file that you can keep in git",
    details:
      "The file is NAME.yaml, in this folder if you name none. Everything but short text goes into a folder next to it. " +
      "Without an appliance, it writes a file for each of yours. The target - is the standard output. Passwords are never " +
      "written.",
    options: { force: flag("replace an existing file") },
    examples: ["kiln export First", "kiln export First images/kiosk.yaml"],
    act: async (kiln, { appliance, target, force }) => {
      const { client } = kiln;
      if (target === "-") return await print(kiln, appliance);
      const ids = appliance === undefined ? await allIds(client) : [await applianceId(client, appliance)];
      const exported = [];
      for (const id of ids) {
        const { name } = (await client.call("getAppliance", { appliance_id: id })).appliance;
        const file = targetOf(target, appliance === undefined && ids.length > 1 ? `${name}-${id}` : name);
        if (!force) refuseOverwriting(file);
        const written = await exportAppliance(client, id, folderFor(file));
        writeTo(file, written);
        exported.push({ appliance_id: id, file, files: [...written.files.keys()] });
        if (!kiln.isJson) kiln.print(`${file} describes all of ${visible(name)}${alsoIn(written)}.`);
      }
      if (kiln.isJson) kiln.print(JSON.stringify({ exported }, null, 2));
    },
  }),
  command("plan <file>", {
    tool: "reads",
    summary: "Show what a file would change, without changing anything",
    details:
      "The appliance is the one that the file names, or a new one. The exit code is 0 if nothing would change, 2 if something " +
      "would, and 3 if the software could not be installed then.",
    options: { id },
    examples: ["kiln plan kiosk.yaml"],
    act: async (kiln, { file: path, id: given }) => {
      const { client } = kiln;
      const file = kiln.applianceFiles.read(path);
      const seen = await seenFor(client, file, given === undefined ? undefined : numberOf(given, "appliance"));
      const plan = await planFile(client, file, seen);
      const what = { appliance_id: seen?.id ?? null, etag: seen?.etag ?? null };
      kiln.show({ plan, ...what }, () => planText(kiln.paint, file.definition, { plan, id: seen?.id }));
      if (plan.changes.length === 0 && seen) return "done";
      const isBroken = plan.software.state === "unsolvable";
      const next = isBroken
        ? ", and this cannot be installed."
        : `: \`kiln apply ${kiln.applianceFiles.nameOf(path)}\` does it.`;
      kiln.note(`Nothing was changed${next}`);
      return isBroken ? "unbuildable" : "difference";
    },
  }),
  command("apply <file>", {
    tool: "writes",
    summary: "Apply a file to an appliance, completely or not at all",
    details:
      "If you have no appliance of the file's name, it makes one. It is refused if something else changes the appliance " +
      "at the same time. What cannot be installed is not applied; --force applies it anyway.",
    options: {
      id,
      ifMatch: value("etag", "only if the appliance has not changed since `kiln plan --json`"),
      force: flag("do it even if the software cannot be installed then"),
    },
    examples: ["kiln apply kiosk.yaml"],
    act: applyFrom,
  }),
  command("schematic <file>", {
    tool: "writes",
    summary: "Print an address that builds the image of a file, and then leads to it",
    details:
      "The same file always has the same address. The first time, you get an appliance that is made from it. Requests to the " +
      "address need your account and key.",
    options: {
      type: value("types", "an image of this type; the default is the one in the file"),
      asOf: value("day", "with the repositories as they were at the beginning of this day (UTC)"),
    },
    examples: ["kiln schematic kiosk.yaml", "kiln schematic kiosk.yaml --as-of 2026-11-27 --type iso"],
    act: async (kiln, { file: path, type, asOf }) => {
      const schematic = await postSchematic(kiln.client, kiln.applianceFiles.read(path));
      const [format, when] = [type ?? schematic.image_type, asOf ?? "current"];
      const url = schematic.url.replace(/[^/]+\/[^/]+$/, `${when}/${format}`);
      kiln.show({ schematic: { ...schematic, url } }, () => url);
    },
  }),
];

/** Prints an appliance whose contents all fit into the file. */
async function print(kiln: Kiln, appliance: string | undefined): Promise<void> {
  const next = "Name a file: `kiln export APPLIANCE FILE`.";
  if (appliance === undefined) throw new Complaint("misused", "Name the appliance to print.", next);
  const { text, files } = await exportAppliance(kiln.client, await applianceId(kiln.client, appliance), "-");
  if (files.size > 0)
    throw new Complaint("refused", `${count(files.size, "content")} cannot be printed: not text, or too long.`, next);
  kiln.show({ text }, () => text.trimEnd());
}

/** Applies a file, if its software can be installed or `--force` is given. */
export async function applyFrom(kiln: Kiln, { file: path, id: given, ifMatch, force }: Applying): Promise<Exit> {
  const { client } = kiln;
  const file = kiln.applianceFiles.read(path);
  const now = await seenFor(client, file, given === undefined ? undefined : numberOf(given, "appliance"));
  if (!now && ifMatch !== undefined) throw gone(file.definition.name);
  const seen = now && { ...now, etag: ifMatch ?? now.etag };
  const plan = await planFile(client, file, seen);
  const isBroken = plan.software.state === "unsolvable";
  const isDue = plan.changes.length > 0 || !seen;
  const isMade = isDue && (force || !isBroken);
  const made = isMade ? await applyFile(client, file, seen) : now?.definition;
  const text = planText(kiln.paint, file.definition, { plan, id: seen?.id });
  kiln.show({ plan, made: isMade, ...(made && { definition: made }) }, () =>
    isMade ? `${text}\nApplied to appliance ${made?.id}.` : text,
  );
  if (isDue && !isMade) kiln.note("Nothing was changed, because it cannot be installed.");
  return isDue && isBroken ? "unbuildable" : "done";
}

const gone = (name: string): Complaint =>
  new Complaint(
    "notFound",
    `There is no longer an appliance called ${name}.`,
    "Without --if-match, a new one is made.",
  );

const alsoIn = ({ files }: Written): string => {
  const sizes = [...files.values()].map(({ byteLength }) => byteLength);
  const sum = sizes.reduce((one, other) => one + other, 0);
  return sizes.length === 0 ? "" : `, with ${count(sizes.length, "file")} next to it (${bytes(sum)})`;
};

const allIds = async (client: Client): Promise<number[]> =>
  (await client.call("listAppliances", {})).appliances.map(({ id }) => id);
