import { generateKey, readKey, type PrivateKey } from "openpgp";
import { visit, type Client } from "./client.ts";
import { readXml } from "./xml.ts";

export const tinyFingerprint = "e7b7d4b6c6d01c53e594cb9496d4db2024ddeb41";
export const formType = { "content-type": "application/x-www-form-urlencoded" };
export const named = { name: "repo signing 2012", target: "rpm" };

export interface KeyRequest {
  query?: Record<string, string>;
  body?: BodyInit;
  headers?: Record<string, string>;
  version?: "v1" | "v2";
}

/** POST gpg_keys, as clients send it. */
export async function addKey(
  tux: Client,
  id: number,
  { query = named, body, headers, version = "v2" }: KeyRequest = {},
): Promise<Response> {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const path = `/api/${version}/user/appliances/${id}/gpg_keys?${new URLSearchParams(query)}`;
  return await visit(path, { method: "POST", body: body ?? null, headers: { authorization, ...headers } });
}

/** A multipart form with a key as its file, if there is one. */
export function keyForm(fields: Record<string, string>, file?: Uint8Array): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  if (file) data.append("file", new File([file.slice()], "repo.key"));
  return data;
}

export const keyIn = async (answer: Response) => (await readXml(answer)).gpg_key;

export const bytesOf = (text: string) => new TextEncoder().encode(text);
export const binaryOf = async (armour: string) => (await readKey({ armoredKey: armour })).toPacketList().write();
export const fingerprintOf = async (armour: string) => (await readKey({ armoredKey: armour })).getFingerprint();

export const newKey = (): Promise<PrivateKey> =>
  generateKey({ userIDs: [{ name: "Repository" }], format: "object" }).then(({ privateKey }) => privateKey);
