import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { tailPrefix } from "#storage/blobs";
import { app } from "../../src/app.ts";
import { visit, type Client } from "./client.ts";
import { expectError, readXml, type XmlDocument } from "./xml.ts";

export const mebibyte = 2 ** 20;
const bytesType = "application/offset+octet-stream";

/** A tus client whose requests the test chooses. */
export function tusClient({ username, apiKey }: Client) {
  const authorization = `Basic ${btoa(`${username}:${apiKey}`)}`;
  const ask = (method: string, path: string, headers: Record<string, string>, body?: BodyInit) =>
    visit(`/api/v2/user${path}`, {
      method,
      headers: { authorization, "tus-resumable": "1.0.0", ...headers },
      ...(body === undefined ? {} : { body }),
    });
  return {
    begin: (query: Record<string, string | number>, length: number, headers: Record<string, string> = {}) => {
      const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      return ask("POST", `/uploads?${parameters}`, { "upload-length": String(length), ...headers });
    },
    head: (id: string) => ask("HEAD", `/uploads/${id}`, {}),
    show: async (id: string): Promise<XmlDocument> => (await readXml(await ask("GET", `/uploads/${id}`, {}))).upload,
    send: (id: string, offset: number, body: BodyInit, headers: Record<string, string> = {}) =>
      ask("PATCH", `/uploads/${id}`, { "content-type": bytesType, "upload-offset": String(offset), ...headers }, body),
    /** For clients that have no PATCH. */
    post: (id: string, offset: number, body: BodyInit, key: string) =>
      ask(
        "POST",
        `/uploads/${id}`,
        { "content-type": bytesType, "upload-offset": String(offset), "idempotency-key": key },
        body,
      ),
    end: (id: string) => ask("DELETE", `/uploads/${id}`, {}),
  };
}

export type TusClient = ReturnType<typeof tusClient>;

/** Uploads to a service with other settings. */
export function uploadsWith(settings: Partial<Env>, { username, apiKey }: Client) {
  const authorization = `Basic ${btoa(`${username}:${apiKey}`)}`;
  const ask = (method: string, path: string, headers: Record<string, string>, body?: BodyInit) => {
    const init = { method, headers: { authorization, ...headers }, ...(body === undefined ? {} : { body }) };
    const request = new Request(`https://kiln.test/api/v2/user/uploads${path}`, init);
    return app.fetch(request, { ...env, ...settings }, createExecutionContext());
  };
  return {
    begin: (query: Record<string, string>, length: number) =>
      ask("POST", `?${new URLSearchParams(query)}`, { "upload-length": String(length) }),
    send: (id: string, body: BodyInit) =>
      ask("PATCH", `/${id}`, { "content-type": bytesType, "upload-offset": "0" }, body),
  };
}

/** Begins an upload. Returns its id. */
export const begun = async (tus: TusClient, query: Record<string, string | number>, length: number): Promise<string> =>
  (await readXml(await tus.begin(query, length))).upload.id;

export const offsetOf = async (tus: TusClient, id: string) => Number((await tus.head(id)).headers.get("upload-offset"));

/** Bytes that differ everywhere, so that no two parts are equal. */
export function someBytes(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0, word = length; at < words.length; at++)
    words[at] = word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
  return new Uint8Array(words.buffer, 0, length);
}

/** A body that sends these bytes, and then waits until it is ended or cut off. */
export function openBody(bytes: Uint8Array) {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = writer.write(bytes);
  written.catch(() => {});
  return {
    body: readable,
    written,
    end: () => writer.close(),
    cut: () => writer.abort(new Error("the connection is cut")),
  };
}

export const expectRefused = (answer: Response, status: number) => expectError(answer, status, "unknown_error");

export async function blobIdOf(id: string): Promise<string> {
  const asked = env.DB.prepare("SELECT blob_id FROM resumable_uploads WHERE id = ?").bind(id);
  return (await asked.first<string>("blob_id")) ?? "";
}

/** The keys of an upload's bytes that are stored after its last part. */
export const tailsOf = async (blobId: string): Promise<string[]> =>
  (await env.BLOBS.list({ prefix: tailPrefix(blobId) })).objects.map(({ key }) => key);
