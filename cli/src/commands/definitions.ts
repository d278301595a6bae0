import { folderFor, refuseOverwriting, targetOf, writeTo } from "../appliance-file/folder.ts";
import { digestOf, writeApplianceFile, type Written } from "../appliance-file/write.ts";
import type { Client } from "../client/client.ts";
import { command, flag } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { bytes, count, visible } from "../output/table.ts";
import { applianceId } from "../resolve.ts";

export const definitions = [
  command("export [appliance] [target]", {
    summary: "Write all that an appliance says as a file for git",
    details:
      "The file is NAME.yaml, in this folder if you name none. What is no short text goes into a folder next to it. " +
      "Without an appliance, it writes a file for each of yours. Passwords are never written.",
    options: { force: flag("write over a file that is there") },
    examples: ["kiln export First", "kiln export First images/kiosk.yaml"],
    act: async (kiln, { appliance, target, force }) => {
      const { client } = kiln;
      const ids = appliance === undefined ? await allIds(client) : [await applianceId(client, appliance)];
      const exported = [];
      for (const id of ids) {
        const { name } = (await client.call("getAppliance", { appliance_id: id })).appliance;
        const file = targetOf(target, appliance === undefined && ids.length > 1 ? `${name}-${id}` : name);
        if (!force) refuseOverwriting(file);
        const written = await exportedAs(client, id, file);
        writeTo(file, written);
        exported.push({ appliance_id: id, file, files: [...written.files.keys()] });
        if (!kiln.isJson) kiln.print(`${file} says all of ${visible(name)}${alsoIn(written)}.`);
      }
      if (kiln.isJson) kiln.print(JSON.stringify({ exported }, null, 2));
    },
  }),
];

const alsoIn = ({ files }: Written): string => {
  const sizes = [...files.values()].map(({ byteLength }) => byteLength);
  const sum = sizes.reduce((one, other) => one + other, 0);
  return sizes.length === 0 ? "" : `, with ${count(sizes.length, "file")} next to it (${bytes(sum)})`;
};

const allIds = async (client: Client): Promise<number[]> =>
  (await client.call("listAppliances", {})).appliances.map(({ id }) => id);

/** The appliance as a file at this place, with the contents of its files. */
async function exportedAs(client: Client, id: number, file: string): Promise<Written> {
  const { definition } = await client.call("getDefinition", { appliance_id: id });
  const contents = definition.files.length === 0 ? new Map<string, Uint8Array>() : await contentsOf(client, id);
  return writeApplianceFile(definition, {
    schema: `${client.url}/schema/appliance.json`,
    folder: folderFor(file),
    contentOf: (sha256) => contents.get(sha256) ?? changedMeanwhile(),
  });
}

/** The contents of the appliance's files, by their SHA-256. */
async function contentsOf(client: Client, id: number): Promise<Map<string, Uint8Array>> {
  const { files } = await client.call("listFiles", { appliance_id: id });
  const contents = new Map<string, Uint8Array>();
  for (const { id: file_id } of files) {
    const content = new Uint8Array(await (await client.call("downloadFile", { file_id })).arrayBuffer());
    contents.set(digestOf(content), content);
  }
  return contents;
}

function changedMeanwhile(): never {
  throw new Complaint("refused", "The appliance was changed while it was read.", "Export it again.");
}
