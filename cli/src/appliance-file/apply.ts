import { randomUUID } from "node:crypto";
import type { AnswerOf, Client } from "../client/client.ts";
import { ServiceRefusal } from "../client/failure.ts";
import { Complaint } from "../complaint.ts";
import type { ApplianceFile } from "./read.ts";
import { withNames } from "./setting-name.ts";
import type { Definition } from "./write.ts";

export type Plan = AnswerOf<"planDefinition">["plan"];

/** The state of the appliance when a file was compared with it. Undefined if it did not exist yet. */
export type Seen = { id: number; etag: string; definition: Definition } | undefined;

/** Finds the appliance of a file: by the id, or by the name in the file. */
export async function seenFor(client: Client, { definition: { name } }: ApplianceFile, id?: number): Promise<Seen> {
  const found = id ?? (await idOf(client, name));
  if (found === undefined) return undefined;
  let etag = "";
  const onHeaders = (headers: Headers) => (etag = headers.get("etag") ?? "");
  const { definition } = await client.call("getDefinition", { appliance_id: found }, { onHeaders });
  return { id: found, etag, definition };
}

async function idOf(client: Client, name: string): Promise<number | undefined> {
  const { appliances } = await client.call("listAppliances", {});
  const ids = appliances.filter((one) => one.name === name).map(({ id }) => id);
  if (ids.length <= 1) return ids[0];
  throw new Complaint("refused", `There is more than one appliance called ${name}.`, `Use --id: ${ids.join(", ")}.`);
}

/** The changes that applying the file would make. */
export async function planFile(client: Client, { definition, at }: ApplianceFile, seen: Seen): Promise<Plan> {
  const body = { definition };
  try {
    const answer = seen
      ? await client.call("planDefinition", { appliance_id: seen.id, body })
      : await client.call("planNewDefinition", { body });
    return answer.plan;
  } catch (error) {
    throw withNames(error, at);
  }
}

/**
 * Changes the appliance to match the file, unless it has changed since the comparison. Applies everything or nothing.
 */
export async function applyFile(client: Client, file: ApplianceFile, seen: Seen): Promise<Definition> {
  const body = { definition: await withUploads(client, file, seen) };
  try {
    if (!seen) return (await client.call("createFromDefinition", { only_new: true, body })).definition;
    // If an answer is lost, the request is sent again. The key prevents a refusal because of the first one.
    const headers = { "if-match": seen.etag, "idempotency-key": randomUUID() };
    return (await client.call("applyDefinition", { appliance_id: seen.id, body }, { headers })).definition;
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.status !== 412) throw withNames(error, file.at);
    const message = `Something else has changed ${file.definition.name} in the meantime.`;
    throw new ServiceRefusal({ code: error.code, status: error.status, call: error.call, message });
  }
}

export type Schematic = AnswerOf<"storeSchematic">["schematic"];

/** Gives the file an address. The service then has an appliance that is made from it. */
export async function postSchematic(client: Client, file: ApplianceFile): Promise<Schematic> {
  const body = { definition: await withUploads(client, file, undefined) };
  return (await client.call("storeSchematic", { body })).schematic;
}

/** Uploads the contents that the appliance lacks. They are not visible until the definition names them. */
async function withUploads(client: Client, { definition, contents }: ApplianceFile, seen: Seen) {
  const known = new Set(seen?.definition.files.map(({ sha256 }) => sha256));
  const uploads = new Map<string, string>();
  for (const [sha256, bytes] of contents) {
    if (known.has(sha256)) continue;
    const { content } = await client.call("storeContent", { body: new Uint8Array(bytes) });
    uploads.set(sha256, content.upload);
  }
  const files = definition.files?.map((file) => {
    const upload = uploads.get(file.sha256);
    return upload === undefined ? file : { ...file, upload };
  });
  return { ...definition, ...(files && { files }) };
}
