import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findAnyOverlayFile } from "#storage/overlay-files";
import { openDatabase } from "#storage/db";
import { env } from "cloudflare:workers";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { contentCount, fileForm, send, template, templateFile, uploadFile } from "../support/files.ts";
import { expectError, readXml, type XmlDocument } from "../support/xml.ts";

let tux: Client;
let stranger: Client;
let applianceId: number;
let file: XmlDocument;

beforeAll(async () => {
  stranger = await signedIn();
});
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
  file = await uploadFile(tux, applianceId, "hello", { query: { filename: "motd", path: "/etc", owner: "root" } });
});

const row = (id = Number(file.id)) => findAnyOverlayFile(openDatabase(env), id);
const put = async (...elements: string[]) =>
  (await readXml(await tux.put(`/files/${file.id}`, `<file>${elements.join("")}</file>`))).file;

describe("GET /files", () => {
  it("lists an appliance's files in the order of their upload", async () => {
    const other = await uploadFile(tux, applianceId, "two");
    const { files } = await readXml(await tux.get(`/files?appliance_id=${applianceId}`));
    expect(files).toEqual({ "@type": "array", file: [file, other] });
  });

  it("lists nothing for an appliance without files", async () => {
    const { files } = await readXml(await tux.get(`/files?appliance_id=${await createAppliance(tux)}`));
    expect(files["@type"]).toBe("array");
    expect(files.file).toBeUndefined();
  });

  it("gives a clone its own files with the same content", async () => {
    const clone = await createAppliance(tux, { clone_from: applianceId });
    const copy = (await readXml(await tux.get(`/files?appliance_id=${clone}`))).files.file;
    expect(copy).toMatchObject({ filename: "motd", path: "/etc", checksum: file.checksum });
    await tux.delete(`/files/${file.id}`);
    expect(await (await tux.get(`/files/${copy.id}/data`)).text()).toBe("hello");
  });
});

describe("GET /files/<id>", () => {
  it("shows the file, with a URL of the requested version", async () => {
    expect((await readXml(await tux.get(`/files/${file.id}/`))).file).toEqual(file);
    const old = (await readXml(await tux.on("v1").get(`/files/${file.id}`))).file;
    expect(old.download_url).toBe(`https://kiln.test/api/v1/user/files/${file.id}/data`);
  });
});

describe("PUT /files/<id>", () => {
  it("changes exactly the given fields", async () => {
    expect(await put("<path>/etc/counter</path>", "<permissions>0600</permissions>")).toEqual({
      ...file,
      path: "/etc/counter",
      permissions: "600",
    });
    expect(await put("<enabled>0</enabled><owner>0</owner><group>users</group><filename>issue</filename>")).toEqual({
      ...file,
      filename: "issue",
      path: "/etc/counter",
      owner: "0",
      group: "users",
      permissions: "600",
      enabled: "false",
    });
  });

  it.each(["application/xml", "application/x-www-form-urlencoded", "text/plain"])(
    "accepts, as %s, what GET shows",
    async (contentType) => {
      await put("<filename> ä&amp;&quot;;.conf</filename>", "<path>/a b/c </path>", "<permissions>4711</permissions>");
      const [before, shown] = [await row(), await (await tux.get(`/files/${file.id}`)).text()];
      const answer = await tux.put(
        `/files/${file.id}`,
        `<?xml version="1.0" encoding="UTF-8"?>\n${shown}`,
        contentType,
      );
      expect(await answer.text()).toBe(shown);
      expect(await row()).toEqual(before);
    },
  );

  it("ignores read-only and empty elements", async () => {
    const given = `<id>1</id><size>9</size><checksum type="md5">f</checksum><download-url>http://a/</download-url><path/>`;
    expect(await put(given, "<owner></owner>")).toEqual(file);
  });

  it.each([
    ["invalid XML", "hello", "invalid_xml"],
    ["an empty document", "", "invalid_xml"],
    ["another document", "<appliance/>", "invalid_node"],
    ["an unknown element", "<file><colour>red</colour></file>", "invalid_node"],
    ["an element twice", "<file><path>/a</path><path>/b</path></file>", "invalid_value"],
    ["an element in an element", "<file><path><a>/a</a></path></file>", "invalid_node"],
    ["text between the elements", "<file>a<path>/a</path></file>", "invalid_value"],
    ["a name with a directory", "<file><filename>a/b</filename></file>", "invalid_value"],
    ["a path outside the root", "<file><path>../a</path></file>", "invalid_value"],
    ["a path that is too long", `<file><path>${"/".concat("a".repeat(250)).repeat(17)}</path></file>`, "invalid_value"],
    ["unknown permissions", "<file><permissions>888</permissions></file>", "invalid_value"],
    ["an owner with a colon", "<file><owner>a:b</owner></file>", "invalid_value"],
    ["an invalid value for enabled", "<file><enabled>yes</enabled></file>", "invalid_value"],
  ])("refuses %s and changes nothing", async (_, document, code) => {
    await expectError(await tux.put(`/files/${file.id}`, document), 400, code);
    expect((await readXml(await tux.get(`/files/${file.id}`))).file).toEqual(file);
  });
});

describe("the content", () => {
  it("is sent with ranges, validators and a file name", async () => {
    const answer = await tux.get(`/files/${file.id}/data`);
    expect([answer.status, await answer.text()]).toEqual([200, "hello"]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": "5",
      "accept-ranges": "bytes",
      "content-disposition": 'attachment; filename="motd"',
    });
    const headers = { range: "bytes=1-2", "if-range": answer.headers.get("etag") ?? "" };
    const part = await tux.get(`/files/${file.id}/data`, { headers });
    expect([part.status, await part.text()]).toEqual([206, "el"]);
    const known = await tux.get(`/files/${file.id}/data`, { headers: { "if-none-match": headers["if-range"] } });
    expect(known.status).toBe(304);
  });

  it.each([
    ['say "hi"\\.txt', `attachment; filename="say _hi__.txt"; filename*=UTF-8''say%20%22hi%22%5C.txt`],
    ["grüße (1).txt", `attachment; filename="gr__e (1).txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%281%29.txt`],
    ["🔥;a=b", `attachment; filename="_;a=b"; filename*=UTF-8''%F0%9F%94%A5%3Ba%3Db`],
  ])("has a safe Content-Disposition for the name %s", async (filename, disposition) => {
    const strange = await uploadFile(tux, applianceId, "a", { query: { filename } });
    const answer = await tux.get(`/files/${strange.id}/data`);
    expect(answer.headers.get("content-disposition")).toBe(disposition);
  });

  it("can be replaced under the same id, which releases the old one", async () => {
    const old = (await row())?.blobId ?? "";
    const answer = await send(tux, fileForm("goodbye", { name: "other" }), {
      method: "PUT",
      path: `/files/${file.id}/data`,
    });
    expect((await readXml(answer)).file).toEqual({
      ...file,
      size: "7",
      checksum: { "@type": "md5", "#text": "69faab6268350295550de7d587bc323d" },
    });
    expect(await (await tux.get(`/files/${file.id}/data`)).text()).toBe("goodbye");
    const released = env.DB.prepare("SELECT count(*) FROM released_blobs WHERE blob_id = ?").bind(old);
    expect(await released.first("count(*)")).toBe(1);
  });

  it.each<[string, BodyInit | null]>([
    ["an empty body", null],
    ["a form without a file", new URLSearchParams({ path: "/etc" })],
  ])("is not replaced by %s", async (_, body) => {
    const before = await contentCount();
    const path = `/files/${file.id}/data`;
    await expectError(await send(tux, body, { method: "PUT", path }), 400, "invalid_request");
    expect(await (await tux.get(path)).text()).toBe("hello");
    expect(await contentCount()).toBe(before);
  });
});

describe("DELETE /files/<id>", () => {
  it("deletes the file and its metadata", async () => {
    const answer = await tux.delete(`/files/${file.id}`);
    expect([answer.status, await answer.text()]).toEqual([200, "<success></success>\n"]);
    await expectError(await tux.get(`/files/${file.id}`), 404, "invalid_overlay_file_id");
    await expectError(await tux.delete(`/files/${file.id}`), 404, "invalid_overlay_file_id");
  });
});

describe("another account's file", () => {
  const calls: [string, (who: Client, id: string) => Promise<Response>][] = [
    ["GET", (who, id) => who.get(`/files/${id}`)],
    ["GET data", (who, id) => who.get(`/files/${id}/data`)],
    ["PUT", (who, id) => who.put(`/files/${id}`, "<file><path>/a</path></file>")],
    ["PUT data", (who, id) => send(who, fileForm("a"), { method: "PUT", path: `/files/${id}/data` })],
    ["DELETE", (who, id) => who.delete(`/files/${id}`)],
  ];

  it.each(calls)("of a template can be read and not changed: %s", async (name, call) => {
    const id = await templateFile(file.id);
    const answer = await call(stranger, id);
    if (name.startsWith("GET")) expect(answer.status).toBe(200);
    else await expectError(answer, 403, "access_denied");
    expect(await row(Number(id))).toMatchObject({ applianceId: template, path: "/etc", size: 5 });
  });
});
