import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { decodePng } from "#lib/picture/codec";
import { contentKey, thumbnailKey } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { appliances, releasedBlobs } from "#storage/schema";
import { pngOf, rowOf } from "../picture/png-maker.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const red = pngOf(64, 32, { row: rowOf(64, [255, 0, 0, 255]) });
const green = pngOf(64, 32, { row: rowOf(64, [0, 255, 0, 255]) });
const kinds = ["logo", "background"] as const;

beforeAll(loadTemplates);

interface Call {
  method?: string;
  version?: "v1" | "v2";
  headers?: Record<string, string>;
}

async function send(tux: Client, path: string, body: BodyInit | null, call: Call = {}): Promise<Response> {
  const { method = "PUT", version = "v2", headers } = call;
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  return await visit(`/api/${version}/user${path}`, { method, body, headers: { authorization, ...headers } });
}

function form(file: Uint8Array, name = "file"): FormData {
  const data = new FormData();
  data.append(name, new File([file.slice()], "x.png", { type: "image/png" }));
  return data;
}

const pathOf = (id: number, kind: string) => `/appliances/${id}/configuration/${kind}`;
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
const rowFor = async (id: number) => {
  const row = await db.query.appliances.findFirst({ where: eq(appliances.id, id) });
  if (!row) throw new Error(`there is no appliance ${id}`);
  return row;
};
const blobOf = async (id: number, kind: (typeof kinds)[number]) => {
  const { logoBlob, backgroundBlob } = await rowFor(id);
  return (kind === "logo" ? logoBlob : backgroundBlob) ?? "";
};

describe.each(kinds)("GET configuration/%s", (kind) => {
  const side = kind === "logo" ? 128 : 100;

  it.each(["an appliance without one", "a template"])("returns the default of %s", async (whose) => {
    const tux = await signedIn();
    const id = whose === "a template" ? 1 : await createAppliance(tux);

    const answer = await tux.get(pathOf(id, kind));

    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/png");
    const png = await bytesOf(answer);
    expect(answer.headers.get("content-length")).toBe(String(png.byteLength));
    expect(decodePng(png)).toMatchObject({ width: side, height: side });
  });

  it("answers 304 if the client has it, and HEAD with the length", async () => {
    const tux = await signedIn();
    const path = pathOf(await createAppliance(tux), kind);
    const statusFor = async (etag: string) => (await tux.get(path, { headers: { "if-none-match": etag } })).status;
    const first = await tux.get(path);
    const defaultTag = first.headers.get("etag") ?? "";
    const size = (await bytesOf(first)).byteLength;

    expect(await statusFor(defaultTag)).toBe(304);
    const head = await send(tux, path, null, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(size)]);

    await send(tux, path, form(red));
    expect(await statusFor(defaultTag)).toBe(200);
    expect(await statusFor((await tux.get(path)).headers.get("etag") ?? "")).toBe(304);
  });
});

describe.each(kinds)("PUT configuration/%s", (kind) => {
  it.each<[string, BodyInit, Call]>([
    ["PUT a form", form(red), {}],
    ["POST a form", form(red), { method: "POST" }],
    ["PUT the raw file", red, {}],
    [
      "POST the raw file with another type",
      red,
      { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ],
  ])("accepts a picture: %s", async (_, body, call) => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await db
      .update(appliances)
      .set({ lastEditedAt: new Date(0) })
      .where(eq(appliances.id, id));

    const answer = await send(tux, pathOf(id, kind), body, call);

    expect(await readXml(answer)).toEqual({ success: "" });
    const shown = await bytesOf(await tux.get(pathOf(id, kind)));
    if (kind === "logo") expect(shown).toEqual(red);
    const { width, height, pixels } = decodePng(shown);
    expect([width, height]).toEqual(kind === "logo" ? [64, 32] : [100, 100]);
    expect([pixels[0], pixels[1], pixels[3]]).toEqual([expect.toSatisfy((part) => part > 250), 0, 255]);
    expect((await rowFor(id)).lastEditedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
    const stored = await env.BLOBS.get(contentKey(await blobOf(id, kind)));
    expect(await stored?.bytes()).toEqual(red);
  });

  it("replaces the previous picture and releases it", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await send(tux, pathOf(id, kind), form(red));
    const first = await blobOf(id, kind);

    await send(tux, pathOf(id, kind), form(green));

    expect(decodePng(await bytesOf(await tux.get(pathOf(id, kind)))).pixels.subarray(0, 1)).toEqual(new Uint8Array(1));
    const released = await db.query.releasedBlobs.findMany({ where: eq(releasedBlobs.blobId, first) });
    expect(released).toHaveLength(1);
    expect(await env.BLOBS.head(contentKey(first))).not.toBeNull();
  });

  it("removes a picture and releases it, also where there is none", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const usual = await bytesOf(await tux.get(pathOf(id, kind)));
    await send(tux, pathOf(id, kind), form(red));
    const first = await blobOf(id, kind);

    const remove = async () => await readXml(await tux.delete(pathOf(id, kind)));
    expect([await remove(), await remove()]).toEqual([{ success: "" }, { success: "" }]);
    expect(await bytesOf(await tux.get(pathOf(id, kind)))).toEqual(usual);
    expect(await db.query.releasedBlobs.findMany({ where: eq(releasedBlobs.blobId, first) })).toHaveLength(1);
  });

  it.each<[string, (limits: { side: number; bytes: number }) => BodyInit | null, string, RegExp]>([
    ["no body", () => null, "missing_parameter", /file is missing/],
    ["an empty file", () => form(new Uint8Array()), "missing_parameter", /file is missing/],
    ["a form without file", () => form(red, "picture"), "missing_parameter", /file is missing/],
    [
      "a file that is not a picture",
      () => form(new TextEncoder().encode("<html></html>")),
      "invalid_value",
      /is not a PNG/,
    ],
    ["half a picture", () => form(red.slice(0, 60)), "invalid_value", /ends too early/],
    [
      "a damaged picture",
      () => form(pngOf(8, 8, { said: { width: 8, height: 80 } })),
      "invalid_value",
      /cannot be decoded/,
    ],
    [
      "too many bytes",
      ({ bytes }) => form(new Uint8Array(bytes + 1)),
      "invalid_value",
      /is too large: the limit is \d MiB/,
    ],
    ["a side too long", ({ side }) => form(pngOf(side + 1, 1)), "invalid_value", /is too large/],
    [
      "a decompression bomb",
      () => form(pngOf(1, 1, { said: { width: 60_000, height: 60_000 } })),
      "invalid_value",
      /is too large/,
    ],
  ])("refuses %s and changes nothing", async (_, bodyFor, code, message) => {
    const limits = kind === "logo" ? { side: 1024, bytes: 2 ** 20 } : { side: 4096, bytes: 5 * 2 ** 20 };
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await send(tux, pathOf(id, kind), form(green));
    const [row, { objects }] = [await rowFor(id), await env.BLOBS.list({ prefix: "contents/" })];

    const answer = await send(tux, pathOf(id, kind), bodyFor(limits));

    expect(await expectError(answer, 400, code)).toMatch(message);
    expect(await rowFor(id)).toEqual(row);
    expect((await env.BLOBS.list({ prefix: "contents/" })).objects).toHaveLength(objects.length);
  });

  it("refuses a form that is cut off", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const body = '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc';
    const answer = await send(tux, pathOf(id, kind), body, { headers });
    expect(await expectError(answer, 400, "invalid_value")).toContain("damaged");
  });
});

describe("a large background", () => {
  it("gets a thumbnail, and a larger one is refused", async () => {
    const tux = await signedIn();
    const path = pathOf(await createAppliance(tux), "background");
    expect((await send(tux, path, form(pngOf(2560, 1600, { colourType: "rgb" })))).status).toBe(200);
    expect((await send(tux, path, form(pngOf(1280, 1600, { bits: 16 })))).status).toBe(200);
    await expectError(await send(tux, path, form(pngOf(1281, 1600, { bits: 16 }))), 400, "invalid_value");
    await expectError(await send(tux, path, form(pngOf(2560, 1601))), 400, "invalid_value");
  });
});

describe("a clone", () => {
  it("has its source's pictures, whatever happens to the source", async () => {
    const tux = await signedIn();
    const id = await createAppliance(tux);
    await send(tux, pathOf(id, "logo"), form(red));
    await send(tux, pathOf(id, "background"), form(red));
    const clone = await createAppliance(tux, { clone_from: id });

    await send(tux, pathOf(id, "logo"), form(green));

    expect(await bytesOf(await tux.get(pathOf(clone, "logo")))).toEqual(red);
    expect(await blobOf(clone, "background")).toBe(await blobOf(id, "background"));
    expect(await env.BLOBS.head(thumbnailKey(await blobOf(clone, "background")))).not.toBeNull();
  });
});
