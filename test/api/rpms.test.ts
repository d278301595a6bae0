import { env } from "cloudflare:workers";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { packTar } from "modern-tar";
import { beforeAll, describe, expect, it } from "vitest";
import { removeReleasedUploads } from "#domain/rpms/sweep";
import { openDatabase } from "#storage/db";
import { listRpms } from "#storage/rpms";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { rpmOf, sourceRpmOf } from "../support/packages.ts";
import { expectError, readXml } from "../support/xml.ts";

const base = "tiny-1.0";
const db = openDatabase(env.DB);

// A tarball of the package "inner", by `xz -9` and by bzip2, which no test can make here.
const innerXz =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AN9dADSbrMp1OBGxZ13v8/4XKVR1OokEjkP6o95J+oEDWu3urmGXh0ABe1kyD9kBiWiHGVGxPA2WMbM8K2VV9v+fA7Q8d3E/5+x74H83H92PTaPOLWIHAlsrMr126Kzh1pxAnO8/BtS20p0NLLU1D7WbYxxo7tdNClqBWaqEy69QXdJpRwOuqBeP5bUWojvEkmrrIEKpt+DcWxsDAeWdFNNSsMbZ0QEtZ6ZLRowRKkLZ9xlF4c0Nv5Kg6we5D2lPTbd1uljxHpKeS+CjgtRWnb0DSuWRSRN9INQj0SxjL1Av8p0AAAURz6xy6UnYAAH7AYBQAAA8jIUAscRn+wIAAAAABFla";
const innerBzip2 =
  "QlpoOTFBWSZTWaEPV08AAO//2+30BcJAA2eIIBAA4G7v3iAAAQQKQAAACAB3AAkwAMzYJUECPUDQ0NNGgAAANqaMhAkEepppkNGIBhGJk0aepiACU1TKAGgDQGgAAAABxmW68p3ocILziqAQGuCzatxR45WBDnhUz5P9pkxbGQISJu21eeNQQAz8rgcyBAMNjtpFyO/Ic5QNEmj27HvAYiJjQAfJYQMzJMCTORCkghfOES2E1HLPMwIkJAI0JmIBQQTlpMARRow4kIcPAImBKVZUYu4jqdvIKiKkv5S21B8PQO4PbhWK5heWZbCUTKJI2IbVHmvtYUTiqU6ikSiilwEAv+LuSKcKEhQh6ung";
const bytesOf = (text: string) => Uint8Array.from(new TextEncoder().encode(text));
const decoded = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

beforeAll(loadTemplates);

interface Call {
  method?: "POST" | "PUT";
  path?: string;
  /** Of the deployment. */
  settings?: Partial<Env>;
  headers?: Record<string, string>;
}

/** A call with a body, as a client makes it. */
async function send(tux: Client, body: BodyInit | null, { method = "POST", path, settings, headers }: Call = {}) {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const url = `https://kiln.test/api/v2/user${path ?? `/rpms?base_system=${base}`}`;
  const init = { method, body, headers: { authorization, ...headers } };
  return await app.fetch(new Request(url, init), { ...env, ...settings });
}

/** A form with a file in it, and fields before and after that. */
function form(
  file: Uint8Array<ArrayBuffer> | undefined,
  { name = "upload.rpm", before = {}, after = {} }: { name?: string; before?: object; after?: object } = {},
): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(before)) data.append(field, String(value));
  if (file) data.append("file", new File([file], name));
  for (const [field, value] of Object.entries(after)) data.append(field, String(value));
  return data;
}

const uploaded = async (answer: Promise<Response>) => (await readXml(await answer)).rpm;
const listed = async (tux: Client): Promise<string[]> =>
  (await listRpms(db, tux.accountId, base)).flatMap(({ packages }) => packages.map(({ nevra }) => nevra));

const hourMs = 60 * 60_000;

/** How many objects lie in R2 for uploads when what was deleted is swept: a refused one must leave none. */
async function blobCount(): Promise<number> {
  await removeReleasedUploads(env, db, Date.now() + 2 * hourMs);
  return (await env.BLOBS.list({ prefix: "uploads/" })).objects.length;
}

async function expectNothingLeft(tux: Client, blobsBefore: number) {
  expect(await listed(tux)).toEqual([]);
  expect(await blobCount()).toBe(blobsBefore);
}

const tarOf = async (files: Record<string, Uint8Array>) =>
  Uint8Array.from(
    await packTar(Object.entries(files).map(([name, body]) => ({ header: { name, size: body.byteLength }, body }))),
  );
const pair = () => tarOf({ "rpms/one.rpm": rpmOf("one"), README: new Uint8Array(3), "rpms/two.rpm": rpmOf("two") });

describe("POST /rpms", () => {
  it("adds an RPM and answers what it is", async () => {
    const tux = await signedIn();
    const file = rpmOf("counterd");

    const rpm = await uploaded(send(tux, form(file, { name: "counterd-1.0-1.noarch.rpm" })));

    expect(rpm).toEqual({
      id: expect.stringMatching(/^\d+$/),
      filename: "counterd-1.0-1.noarch.rpm",
      size: String(file.byteLength),
      archive: "false",
      base_system: base,
      checksum: { "@type": "md5", "#text": expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    expect(await listed(tux)).toEqual(["counterd-0:1.0-1.noarch"]);
  });

  it.each<[string, { before?: object; after?: object; path?: string }]>([
    ["before the file", { before: { base_system: base } }],
    ["after the file", { after: { base_system: base } }],
    ["after the file, and empty in the query", { after: { base_system: base }, path: "/rpms?base_system=" }],
  ])("takes base_system as a field %s", async (_, { path = "/rpms", ...fields }) => {
    const tux = await signedIn();
    expect((await uploaded(send(tux, form(rpmOf("a"), fields), { path }))).base_system).toBe(base);
  });

  it("takes the file as the body itself, whatever its Content-Type says", async () => {
    const tux = await signedIn();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const rpm = await uploaded(send(tux, rpmOf("raw"), { headers }));
    expect(rpm.filename).toBe("raw-1.0-1.noarch.rpm");
  });

  it("streams a large RPM through, in parts", { timeout: 30_000 }, async () => {
    const tux = await signedIn();
    const file = rpmOf("large", { payload: "p".repeat(20 * 2 ** 20) });
    const rpm = await uploaded(send(tux, form(file)));
    expect(rpm.size).toBe(String(file.byteLength));
    const data = new Uint8Array(await (await tux.get(`/rpms/${rpm.id}/data`)).arrayBuffer());
    expect(await crypto.subtle.digest("SHA-256", data)).toEqual(await crypto.subtle.digest("SHA-256", file));
  });

  it.each([
    ["a.tar", (tar: Uint8Array) => tar],
    ["a.tar.gz", gzipSync],
    ["a.tgz", gzipSync],
    ["a.tar.zst", zstdCompressSync],
  ])("takes a tarball of RPMs: %s", async (name, compress) => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(Uint8Array.from(compress(await pair())), { name })));
    expect(rpm).toMatchObject({ filename: name, archive: "true" });
    expect(await listed(tux)).toEqual(["one-0:1.0-1.noarch", "two-0:1.0-1.noarch"]);
  });

  it.each([
    ["a.tar.xz", innerXz],
    ["a.tar.bz2", innerBzip2],
  ])("takes a tarball of RPMs: %s", async (name, base64) => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(decoded(base64), { name })));
    expect(rpm).toMatchObject({ filename: name, archive: "true" });
    expect(await listed(tux)).toEqual(["inner-0:1.0-1.noarch"]);
  });

  it("passes over source packages in a tarball", async () => {
    const tux = await signedIn();
    await uploaded(send(tux, form(await tarOf({ "s.src.rpm": sourceRpmOf("s"), "b.rpm": rpmOf("b") }))));
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
  });

  it("lets the same package, built again, take the earlier one's place and id", async () => {
    const tux = await signedIn();
    const first = await uploaded(send(tux, form(rpmOf("a", { payload: "old" }))));
    const blobs = await blobCount();
    const second = await uploaded(send(tux, form(rpmOf("a", { payload: "brand new" }))));
    expect(second.id).toBe(first.id);
    expect(second.checksum).not.toEqual(first.checksum);
    expect(await listed(tux)).toHaveLength(1);
    expect(await blobCount()).toBe(blobs);
  });

  it("keeps versions and architectures of a package apart", async () => {
    const tux = await signedIn();
    for (const facts of [{ version: "1" }, { version: "2" }, { arch: "x86_64" }]) {
      await uploaded(send(tux, form(rpmOf("a", facts))));
    }
    expect(await listed(tux)).toHaveLength(3);
  });

  it("takes nothing of a file name but its last segment", async () => {
    const tux = await signedIn();
    const names: Record<string, string> = {
      "../../etc/passwd": "passwd",
      "C:\\rpms\\a.rpm": "a.rpm",
      "..": "p-1.0-1.noarch.rpm",
      ".hidden rpm;ä.rpm": "hidden_rpm_.rpm",
    };
    for (const [name, expected] of Object.entries(names)) {
      expect((await uploaded(send(tux, form(rpmOf("p"), { name })))).filename).toBe(expected);
    }
  });

  it("refuses without base_system, and without a file", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(await send(tux, form(rpmOf("a")), { path: "/rpms" }), 400, "missing_parameter");
    await expectError(await send(tux, form(undefined, { before: { other: 1 } })), 400, "missing_parameter");
    await expectError(await send(tux, null), 400, "missing_parameter");
    await expectError(await send(tux, new Uint8Array(0)), 400, "missing_parameter");
    await expectNothingLeft(tux, blobs);
  });

  it("refuses a base system that there is not, in the query and in the form", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(
      await send(tux, form(rpmOf("a")), { path: "/rpms?base_system=11.2" }),
      400,
      "invalid_base_system",
    );
    const late = form(rpmOf("a"), { after: { base_system: "11.2" } });
    await expectError(await send(tux, late, { path: "/rpms" }), 400, "invalid_base_system");
    await expectNothingLeft(tux, blobs);
  });

  const whole = rpmOf("cut", { payload: "p".repeat(5000) });
  it.each<[string, () => Promise<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer>]>([
    ["a text", () => bytesOf("no package at all")],
    ["a page of 300 KB", () => bytesOf("<html>404</html>".repeat(20_000))],
    ["an empty file", () => new Uint8Array(0)],
    ["four bytes of an RPM", () => whole.slice(0, 4)],
    ["an RPM cut off in its header", () => whole.slice(0, 150)],
    ["an RPM cut off in its payload", () => whole.slice(0, -1)],
    ["an RPM with bytes behind its end", () => Uint8Array.from([...whole, 0])],
    ["an RPM whose name leads out", () => rpmOf("../../evil")],
    ["a source package", () => sourceRpmOf("a")],
    ["a gzip file that is no tarball", () => Uint8Array.from(gzipSync("no tarball"))],
    ["a tarball without RPMs", () => tarOf({ README: new Uint8Array(3) })],
    ["a tarball of source packages only", () => tarOf({ "a.src.rpm": sourceRpmOf("a") })],
    ["a tarball in which one RPM is none", () => tarOf({ "a.rpm": rpmOf("a"), "b.rpm": new Uint8Array(600) })],
    ["a tarball with a path that leads out", () => tarOf({ "a.rpm": rpmOf("a"), "../b.rpm": rpmOf("b") })],
    ["a tarball cut off", async () => (await pair()).slice(0, 1700)],
    ["an xz tarball cut off", () => decoded(innerXz).slice(0, 200)],
    ["a gzip bomb", () => Uint8Array.from(gzipSync(new Uint8Array(32 << 20)))],
  ])("refuses %s and keeps nothing of it", async (_, file) => {
    const tux = await signedIn();
    const blobs = await blobCount();
    await expectError(await send(tux, form(await file())), 400, "invalid_file");
    await expectNothingLeft(tux, blobs);
  });

  it("refuses a form that is cut off, in the file or behind it", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const request = new Request("https://kiln.test", {
      method: "POST",
      body: form(whole, { after: { base_system: base } }),
    });
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    const body = new Uint8Array(await request.arrayBuffer());
    for (const end of [3000, -60, -3]) {
      await expectError(await send(tux, body.slice(0, end), { headers }), 400, "invalid_file");
    }
    await expectNothingLeft(tux, blobs);
  });

  it("refuses two files in one form", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const two = form(rpmOf("a"));
    two.append("file", new File([rpmOf("b")], "b.rpm"));
    await expectError(await send(tux, two), 400, "invalid_file");
    await expectNothingLeft(tux, blobs);
  });

  it("names its limit to a file that is larger, announced or not", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const settings = { MAX_UPLOAD_MB: "1" };
    const large = rpmOf("large", { payload: "p".repeat(2 ** 20) });
    const answer = await send(tux, form(large), { settings });
    expect(await expectError(answer, 400, "invalid_file")).toContain("1 MB");
    const announced = await send(tux, form(rpmOf("a")), { settings, headers: { "content-length": "2000000000" } });
    expect(await expectError(announced, 400, "invalid_file")).toContain("1 MB");
    await expectNothingLeft(tux, blobs);
  });
});

describe("the disk quota", () => {
  const settings = { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) };

  it("counts uploads, and what archives hold", async () => {
    const tux = await signedIn();
    const tar = await pair();
    await uploaded(send(tux, form(tar)));
    const [row] = await listRpms(db, tux.accountId, base);
    expect(row?.storedBytes).toBe(tar.byteLength + rpmOf("one").byteLength + rpmOf("two").byteLength);
    const used = await app.fetch(
      new Request("https://kiln.test/api/v2/user/account", {
        headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
      }),
      { ...env, ACCOUNT_QUOTA_GB: String((row?.storedBytes ?? 0) / 2 ** 30 / 0.5) },
    );
    expect((await readXml(used)).account.disk_quota.used).toBe("50%");
  });

  it("refuses what does not fit, and says what to do", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const answer = await send(tux, form(rpmOf("a", { payload: "p".repeat(3000) })), { settings });
    expect(await expectError(answer, 400, "unknown_error")).toMatch(/quota/);
    await expectNothingLeft(tux, blobs);
  });

  it("refuses an archive whose packages do not fit beside it", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const tar = await tarOf({ "a.rpm": rpmOf("a", { payload: "p".repeat(1500) }) });
    const answer = await send(tux, form(Uint8Array.from(gzipSync(tar))), {
      settings: { ACCOUNT_QUOTA_GB: String(1000 / 2 ** 30) },
    });
    await expectError(answer, 400, "unknown_error");
    await expectNothingLeft(tux, blobs);
  });

  it("is not exceeded by many uploads at once", async () => {
    const tux = await signedIn();
    const answers = await Promise.all(
      ["a", "b", "c", "d", "e"].map((name) =>
        send(tux, form(rpmOf(name, { payload: "p".repeat(1000) })), { settings }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(await listed(tux)).toHaveLength(2);
  });

  it("lets new content take the place of old", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a", { payload: "p".repeat(1800) })), { settings }));
    const path = `/rpms/${rpm.id}`;
    const again = form(rpmOf("a", { payload: "q".repeat(1900) }));
    expect((await send(tux, again, { method: "PUT", path, settings })).status).toBe(200);
  });
});

describe("GET /rpms", () => {
  it("lists the account's uploads of a base system, and names that on the list only", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a"))));
    const { base_system: _, ...entry } = rpm;
    const document = await readXml(await tux.get(`/rpms?base_system=${base}`));
    expect(document.rpms).toEqual({ "@type": "array", "@base_system": base, rpm: entry });
  });

  it("is an empty list for who has uploaded nothing, in both versions", async () => {
    const tux = await signedIn();
    for (const client of [tux, tux.on("v1")]) {
      const document = await readXml(await client.get(`/rpms?base_system=${base}`));
      expect(document.rpms).toEqual({ "@type": "array", "@base_system": base });
    }
  });

  it("shows nothing of other accounts", async () => {
    const [tux, rhea] = [await signedIn(), await signedIn()];
    await uploaded(send(tux, form(rpmOf("a"))));
    expect((await readXml(await rhea.get(`/rpms?base_system=${base}`))).rpms.rpm).toBeUndefined();
  });

  it("wants a base system that there is", async () => {
    const tux = await signedIn();
    await expectError(await tux.get("/rpms"), 400, "missing_parameter");
    await expectError(await tux.get("/rpms?base_system=11.2"), 400, "invalid_base_system");
  });
});

describe("one upload", () => {
  it("is shown, and given back byte by byte", async () => {
    const tux = await signedIn();
    const file = rpmOf("a");
    const rpm = await uploaded(send(tux, form(file, { name: "a.rpm" })));
    expect((await readXml(await tux.get(`/rpms/${rpm.id}/`))).rpm).toEqual(rpm);
    const data = await tux.get(`/rpms/${rpm.id}/data`);
    expect(data.headers.get("content-type")).toBe("application/x-rpm");
    expect(data.headers.get("content-disposition")).toBe('attachment; filename="a.rpm"');
    expect(new Uint8Array(await data.arrayBuffer())).toEqual(file);
    const part = await tux.get(`/rpms/${rpm.id}/data`, { headers: { range: "bytes=0-3" } });
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(file.slice(0, 4));
  });

  it("gets new content under its id", async () => {
    const tux = await signedIn();
    const { id } = await uploaded(send(tux, form(rpmOf("a"))));
    const blobs = await blobCount();
    const changed = await uploaded(
      send(tux, form(rpmOf("b"), { name: "b.rpm" }), { method: "PUT", path: `/rpms/${id}` }),
    );
    expect(changed).toMatchObject({ id, filename: "b.rpm" });
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
    expect(await blobCount()).toBe(blobs);
  });

  it("may become the package of another upload, which gives way", async () => {
    const tux = await signedIn();
    const { id } = await uploaded(send(tux, form(rpmOf("a"))));
    const other = await uploaded(send(tux, form(rpmOf("b"))));
    await uploaded(send(tux, form(rpmOf("b", { payload: "new" })), { method: "PUT", path: `/rpms/${id}` }));
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
    await expectError(await tux.get(`/rpms/${other.id}`), 404, "invalid_rpm_id");
  });

  it("stays as it is when its new content is refused", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a"))));
    const path = `/rpms/${rpm.id}`;
    const blobs = await blobCount();
    await expectError(await send(tux, form(new Uint8Array(5)), { method: "PUT", path }), 400, "invalid_file");
    await expectError(await send(tux, null, { method: "PUT", path }), 400, "missing_parameter");
    expect((await readXml(await tux.get(path))).rpm).toEqual(rpm);
    expect(await blobCount()).toBe(blobs);
  });

  it("is gone when deleted, with everything of it", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const { id } = await uploaded(send(tux, form(await pair())));
    expect(await blobCount()).toBe(blobs + 4);
    expect(await (await tux.delete(`/rpms/${id}`)).text()).toBe("<success></success>\n");
    await expectError(await tux.get(`/rpms/${id}`), 404, "invalid_rpm_id");
    await expectError(await tux.delete(`/rpms/${id}`), 404, "invalid_rpm_id");
    await expectNothingLeft(tux, blobs);
  });

  it.each(["GET", "PUT", "DELETE", "data"])("of somebody else does not exist: %s", async (call) => {
    const [tux, rhea] = [await signedIn(), await signedIn()];
    const { id } = await uploaded(send(tux, form(rpmOf("a"))));
    for (const wrong of [id, "0", "x", "999999"]) {
      const path = `/rpms/${wrong}`;
      const answer =
        call === "PUT"
          ? await send(rhea, form(rpmOf("evil")), { method: "PUT", path })
          : call === "DELETE"
            ? await rhea.delete(path)
            : await rhea.get(call === "data" ? `${path}/data` : path);
      await expectError(answer, 404, "invalid_rpm_id");
    }
    expect(await listed(tux)).toEqual(["a-0:1.0-1.noarch"]);
  });
});
