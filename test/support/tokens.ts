import type { Client } from "./client.ts";
import { withKey } from "./client.ts";
import { readXml } from "./xml.ts";

export interface MadeToken {
  id: string;
  secret: string;
  /** A client that signs in with the token instead of the key. */
  client: Client;
}

/** Makes a token of the account; by default it may read everything. */
export async function tokenOf(tux: Client, params: Record<string, string | number> = {}): Promise<MadeToken> {
  const answer = await readXml(await tux.post("/tokens", { name: "one", scope: "read", ...params }));
  const { id, secret } = answer.token;
  return { id, secret, client: withKey(tux, secret) };
}
