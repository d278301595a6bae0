import { env } from "cloudflare:workers";
import { contentsPrefix } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { findAnyOverlayFile } from "#storage/overlay-files";
import { overlayFiles } from "#storage/schema";
import { app } from "../../src/app.ts";
import type { Client } from "./client.ts";
import { readXml, type XmlDocument } from "./xml.ts";

/** A template of the shipped catalogue. */
export const template = 1;

interface Call {
  method?: "POST" | "PUT";
  path: string;
  /** Settings of the deployment. */
  settings?: Partial<Env> & Record<string, unknown>;
  headers?: Record<string, string>;
}

/** A call with a body, like a client's. `path` is below /api/v2/user. */
export async function send(tux: Client, body: BodyInit | null, { method = "POST", path, settings, headers }: Call) {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const init = { method, body, headers: { authorization, ...headers } };
  return await app.fetch(new Request(`https://kiln.test/api/v2/user${path}`, init), { ...env, ...settings });
}

type Fields = Record<string, string>;

/** A form with a file in it, and fields before and after the file. */
export function fileForm(
  content: string | Uint8Array<ArrayBuffer>,
  { name = "hello", before = {}, after = {} }: { name?: string; before?: Fields; after?: Fields } = {},
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(before)) form.append(field, value);
  form.append("file", new File([content], name));
  for (const [field, value] of Object.entries(after)) form.append(field, value);
  return form;
}

/** Uploads a file like a client. Returns its element. */
export async function uploadFile(
  tux: Client,
  applianceId: number,
  content: string | Uint8Array<ArrayBuffer>,
  { name, query = {} }: { name?: string; query?: Fields } = {},
): Promise<XmlDocument> {
  const parameters = new URLSearchParams({ appliance_id: String(applianceId), ...query });
  const form = fileForm(content, name === undefined ? {} : { name });
  return (await readXml(await send(tux, form, { path: `/files?${parameters}` }))).file;
}

/** Number of contents in R2. A refused file must leave none. */
export const contentCount = async () => (await env.BLOBS.list({ prefix: contentsPrefix })).objects.length;

/** Gives the template a file like this one. Returns its id. */
export async function templateFile(id: string): Promise<string> {
  const db = openDatabase(env);
  const file = await findAnyOverlayFile(db, Number(id));
  if (!file) throw new Error(`there is no file ${id}`);
  const [added] = await db
    .insert(overlayFiles)
    .values({ ...file, id: undefined, applianceId: template })
    .returning();
  return String(added?.id);
}
