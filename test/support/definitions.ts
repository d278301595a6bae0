import { expect } from "vitest";
import { visit, type Client } from "./client.ts";
import { uploadFile } from "./files.ts";
import { newKey } from "./gpg-keys.ts";

/** A definition as JSON shows it. */
export interface Shown {
  id: number;
  base_system: string;
  repositories: unknown[];
  configuration: { users: { name: string; password?: string }[] };
  files: { path: string; sha256: string }[];
  [name: string]: unknown;
}

export const json = { accept: "application/json" };

/** The definition of the appliance at this path. */
export async function shownBy(who: Client, at: string): Promise<Shown> {
  const answer = await who.get(at, { headers: json });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { definition: Shown }).definition;
}

const sendBytes = ({ username, apiKey }: Client, at: string, init: RequestInit & { headers: object }) =>
  visit(`/api/v2/user${at}`, {
    method: "POST",
    ...init,
    headers: { ...json, authorization: `Basic ${btoa(`${username}:${apiKey}`)}`, ...init.headers },
  });

/** `call` is the method and the path. */
export const send = (who: Client, call: string, definition: object, headers: object = {}) => {
  const [method = "", at = ""] = call.split(" ");
  return sendBytes(who, at, {
    method,
    body: JSON.stringify({ definition }),
    headers: { "content-type": "application/json", ...headers },
  });
};

export async function done(answer: Response): Promise<Shown> {
  const text = await answer.text();
  expect(answer.ok, text).toBe(true);
  return (JSON.parse(text) as { definition: Shown }).definition;
}

/** The status, the code and the message. */
export async function refused(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return `${answer.status} ${error.code} ${error.message}`;
}

/** A content that no definition names yet. */
export async function stored(who: Client, bytes: string): Promise<{ sha256: string; upload: string }> {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await sendBytes(who, "/contents", { body: bytes, headers });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { content: { sha256: string; upload: string } }).content;
}

/** Gives an appliance at least one of everything that it may have. */
export async function fill(tux: Client, applianceId: number): Promise<void> {
  await uploadFile(tux, applianceId, "hello", { query: { filename: "motd", path: "/etc" } });
  await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello", version: "1.0-1" });
  await tux.post(`/appliances/${applianceId}/cmd/ban_package`, { name: "vim" });
  const key = (await newKey()).toPublic().armor();
  await tux.post(`/appliances/${applianceId}/gpg_keys`, { name: "ours", target: "rpm", key });
  await tux.put(
    `/appliances/${applianceId}/configuration`,
    `<configuration><description>Reads</description><users>
       <user><name>root</name><password>secret one</password></user>
       <user><name>clerk</name><password>secret two</password></user></users>
       <settings><memory_size>512</memory_size></settings>
       <scripts><build><enabled>true</enabled><script>#!/bin/sh\necho hi</script></build></scripts></configuration>`,
  );
}
