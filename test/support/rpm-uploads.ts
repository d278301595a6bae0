import { env } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { expect } from "vitest";
import { removeReleasedUploads } from "#domain/rpms/sweep";
import { openDatabase } from "#storage/db";
import { listRpms } from "#storage/rpms";
import { app } from "../../src/app.ts";
import type { Client } from "./client.ts";
import { rpmOf } from "./packages.ts";
import { readXml } from "./xml.ts";

export const base = "tiny-1.0";
const db = openDatabase(env);

// A tarball with the package "inner", made by `xz -9` and by bzip2, because tests cannot make these here.
export const innerXz =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AN9dADSbrMp1OBGxZ13v8/4XKVR1OokEjkP6o95J+oEDWu3urmGXh0ABe1kyD9kBiWiHGVGxPA2WMbM8K2VV9v+fA7Q8d3E/5+x74H83H92PTaPOLWIHAlsrMr126Kzh1pxAnO8/BtS20p0NLLU1D7WbYxxo7tdNClqBWaqEy69QXdJpRwOuqBeP5bUWojvEkmrrIEKpt+DcWxsDAeWdFNNSsMbZ0QEtZ6ZLRowRKkLZ9xlF4c0Nv5Kg6we5D2lPTbd1uljxHpKeS+CjgtRWnb0DSuWRSRN9INQj0SxjL1Av8p0AAAURz6xy6UnYAAH7AYBQAAA8jIUAscRn+wIAAAAABFla";
export const innerBzip2 =
  "QlpoOTFBWSZTWaEPV08AAO//2+30BcJAA2eIIBAA4G7v3iAAAQQKQAAACAB3AAkwAMzYJUECPUDQ0NNGgAAANqaMhAkEepppkNGIBhGJk0aepiACU1TKAGgDQGgAAAABxmW68p3ocILziqAQGuCzatxR45WBDnhUz5P9pkxbGQISJu21eeNQQAz8rgcyBAMNjtpFyO/Ic5QNEmj27HvAYiJjQAfJYQMzJMCTORCkghfOES2E1HLPMwIkJAI0JmIBQQTlpMARRow4kIcPAImBKVZUYu4jqdvIKiKkv5S21B8PQO4PbhWK5heWZbCUTKJI2IbVHmvtYUTiqU6ikSiilwEAv+LuSKcKEhQh6ung";
export const decoded = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

interface Call {
  method?: "POST" | "PUT";
  path?: string;
  /** Settings of the deployment. */
  settings?: Partial<Env>;
  headers?: Record<string, string>;
}

/** A call with a body, as a client makes it. */
export async function send(
  tux: Client,
  body: BodyInit | null,
  { method = "POST", path, settings, headers }: Call = {},
) {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const url = `https://kiln.test/api/v2/user${path ?? `/rpms?base_system=${base}`}`;
  const init = { method, body, headers: { authorization, ...headers } };
  return await app.fetch(new Request(url, init), { ...env, ...settings });
}

/** A form with a file in it, and fields before and after the file. */
export function form(
  file: Uint8Array<ArrayBuffer> | undefined,
  { name = "upload.rpm", before = {}, after = {} }: { name?: string; before?: object; after?: object } = {},
): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(before)) data.append(field, String(value));
  if (file) data.append("file", new File([file], name));
  for (const [field, value] of Object.entries(after)) data.append(field, String(value));
  return data;
}

export const uploaded = async (answer: Promise<Response>) => (await readXml(await answer)).rpm;
export const listed = async (tux: Client): Promise<string[]> =>
  (await listRpms(db, tux.accountId, base)).flatMap(({ packages }) => packages.map(({ nevra }) => nevra));

const hourMs = 60 * 60_000;

/** The number of upload objects in R2 after the sweep has removed deleted ones. A refused upload must leave none. */
export async function blobCount(): Promise<number> {
  await removeReleasedUploads({ env, db }, Date.now() + 2 * hourMs);
  return (await env.BLOBS.list({ prefix: "uploads/" })).objects.length;
}

export async function expectNothingLeft(tux: Client, blobsBefore: number) {
  expect(await listed(tux)).toEqual([]);
  expect(await blobCount()).toBe(blobsBefore);
}

export const tarOf = async (files: Record<string, Uint8Array>) =>
  Uint8Array.from(
    await packTar(Object.entries(files).map(([name, body]) => ({ header: { name, size: body.byteLength }, body }))),
  );
/** Two packages and a file that is not a package. */
export const pair = () =>
  tarOf({ "rpms/one.rpm": rpmOf("one"), README: new Uint8Array(3), "rpms/two.rpm": rpmOf("two") });
