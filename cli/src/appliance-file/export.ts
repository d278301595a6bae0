import type { Client } from "../client/client.ts";
import { Complaint } from "../complaint.ts";
import { digestOf, writeApplianceFile, type Written } from "./write.ts";

/** Writes an appliance of the service as a file. Contents that are not text go into `folder`. */
export async function exportAppliance(client: Client, id: number, folder: string): Promise<Written> {
  const { definition } = await client.call("getDefinition", { appliance_id: id });
  // Each build raises the version, so a file that demanded one would soon differ from its appliance.
  const { version: _version, ...lasting } = definition;
  const contents = definition.files.length === 0 ? new Map<string, Uint8Array>() : await contentsOf(client, id);
  return writeApplianceFile(lasting, {
    schema: `${client.url}/schema/appliance.json`,
    folder,
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
