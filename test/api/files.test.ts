import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { contentCount, fileForm, send, template, uploadFile } from "../support/files.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let applianceId: number;

beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

const md5OfHello = "5d41402abc4b2a76b9719d911017c592";

describe("POST /files", () => {
  it("accepts a form with a file and returns its metadata", async () => {
    const file = await uploadFile(tux, applianceId, "hello", {
      query: { filename: "motd", path: "/etc", owner: "root", group: "wheel", permissions: "04755", enabled: "0" },
    });
    expect(file).toEqual({
      id: expect.stringMatching(/^\d+$/),
      filename: "motd",
      path: "/etc",
      owner: "root",
      group: "wheel",
      permissions: "4755",
      enabled: "false",
      size: "5",
      checksum: { "@type": "md5", "#text": md5OfHello },
      download_url: `https://kiln.test/api/v2/user/files/${file.id}/data`,
    });
  });

  it("has defaults for everything except the content", async () => {
    expect(await uploadFile(tux, applianceId, "hello", { name: "C:\\temp\\hello.conf" })).toMatchObject({
      filename: "hello.conf",
      path: "/",
      owner: "nobody",
      group: "nobody",
      permissions: "644",
      enabled: "true",
    });
  });

  it.each([
    ["before the file", "before"],
    ["after the file", "after"],
  ] as const)("accepts the parameters as fields %s", async (_, place) => {
    const fields = { appliance_id: String(applianceId), filename: "motd", path: "etc//issue.d/./", enabled: "False" };
    const answer = await send(tux, fileForm("hello", { [place]: fields }), { path: "/files?filename=" });
    expect((await readXml(answer)).file).toMatchObject({ filename: "motd", path: "/etc/issue.d", enabled: "false" });
  });

  it.each([
    ["a name that is no longer a parameter", "extract_archive=false&filename=motd&path=/etc"],
    ["a name that is not ASCII", "filename=voil\u00e0.txt&path=/etc"],
  ])("reads a form without a file that has %s", async (_, body) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await send(tux, body, { path: `/files?appliance_id=${applianceId}`, headers });
    await expectError(answer, 400, "invalid_request"); // neither a file nor a url
  });

  it("takes the first value of a field that is not empty", async () => {
    const form = fileForm("hello", { before: { appliance_id: String(applianceId), owner: "" } });
    form.append("owner", "root");
    form.append("owner", "");
    form.append("owner", "wheel");
    const answer = await send(tux, form, { path: "/files?filename=motd" });
    expect((await readXml(answer)).file).toMatchObject({ owner: "root" });
  });

  it("refuses a compressed body", async () => {
    const headers = { "content-type": "application/octet-stream", "content-encoding": "gzip" };
    const answer = await send(tux, "hello", { path: `/files?appliance_id=${applianceId}&filename=a`, headers });
    await expectError(answer, 415, "unknown_error");
  });

  it("accepts a part without file name and type", async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n' +
      '--b\r\nContent-Disposition: form-data; name="filename"\r\n\r\nmotd\r\n--b--\r\n\r\n';
    const headers = { "content-type": 'multipart/form-data; boundary="b"' };
    const answer = await send(tux, body, { path: `/files?appliance_id=${applianceId}`, headers });
    expect((await readXml(answer)).file).toMatchObject({ filename: "motd", size: "5" });
  });

  it.each<[string, Record<string, string>]>([
    ["declared as a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["declared as bytes", { "content-type": "application/octet-stream" }],
  ])("accepts the file as a raw body, %s", async (_, headers) => {
    const path = `/files?appliance_id=${applianceId}&filename=motd`;
    const answer = await send(tux, "path=hello world\n", { path, headers });
    expect((await readXml(answer)).file).toMatchObject({ filename: "motd", size: "17" });
  });

  it("accepts an empty file", async () => {
    const file = await uploadFile(tux, applianceId, "");
    expect(file).toMatchObject({ size: "0", checksum: { "#text": "d41d8cd98f00b204e9800998ecf8427e" } });
    const data = await tux.get(`/files/${file.id}/data`);
    expect([data.status, await data.text()]).toEqual([200, ""]);
  });

  it("streams a large file, in parts", async () => {
    const bytes = new Uint8Array(20 * 2 ** 20).fill(7);
    const file = await uploadFile(tux, applianceId, bytes);
    expect(file.size).toBe(String(bytes.byteLength));
    const data = new Uint8Array(await (await tux.get(`/files/${file.id}/data`)).arrayBuffer());
    expect(await crypto.subtle.digest("SHA-256", data)).toEqual(await crypto.subtle.digest("SHA-256", bytes));
  });

  it("keeps several files of one path, and `enabled` selects one", async () => {
    const first = await uploadFile(tux, applianceId, "one", { name: "motd" });
    const second = await uploadFile(tux, applianceId, "two", { name: "motd" });
    const { files } = await readXml(await tux.get(`/files?appliance_id=${applianceId}`));
    expect(files.file.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
  });

  it.each<[string, string, string, BodyInit | null]>([
    ["no appliance", "/files?filename=a", "missing_appliance_id", "hello"],
    ["an empty appliance_id", "/files?appliance_id=&filename=a", "missing_appliance_id", "hello"],
    ["an unknown appliance", "/files?appliance_id=999999&filename=a", "invalid_appliance_id", "hello"],
    ["an invalid appliance id", "/files?appliance_id=x&filename=a", "invalid_appliance_id", "hello"],
    ["a template", `/files?appliance_id=${template}&filename=a`, "access_denied", "hello"],
    ["a file without a name", "/files?appliance_id=ID", "missing_parameter", "hello"],
    ["neither file nor url", "/files?appliance_id=ID&filename=a", "invalid_request", null],
    ["an empty url", "/files?appliance_id=ID&filename=a&url=", "invalid_request", null],
    ["both file and url", "/files?appliance_id=ID&url=http://a.example.org/b", "invalid_request", "hello"],
    ["a name with a slash", "/files?appliance_id=ID&filename=a/b", "invalid_value", "hello"],
    ["a path that leaves the root", "/files?appliance_id=ID&filename=a&path=/etc/../..", "invalid_value", "hello"],
    ["letters as permissions", "/files?appliance_id=ID&filename=a&permissions=yes", "invalid_value", "hello"],
    ["an owner of two words", "/files?appliance_id=ID&filename=a&owner=a%20b", "invalid_value", "hello"],
    ["an invalid value for enabled", "/files?appliance_id=ID&filename=a&enabled=maybe", "invalid_value", "hello"],
  ])("refuses %s and stores nothing", async (_, path, code, body) => {
    const before = await contentCount();
    const headers = { "content-type": "application/octet-stream" };
    const answer = await send(tux, body, { path: path.replace("ID", String(applianceId)), headers });
    await expectError(answer, code === "access_denied" ? 403 : 400, code);
    expect(await contentCount()).toBe(before);
    expect((await readXml(await tux.get(`/files?appliance_id=${applianceId}`))).files.file).toBeUndefined();
  });

  it("refuses forms with url and file, with two files, or damaged", async () => {
    const before = await contentCount();
    const path = `/files?appliance_id=${applianceId}`;
    const url = { url: "http://a.example.org/b" };
    await expectError(await send(tux, fileForm("a", { after: url }), { path }), 400, "invalid_request");
    const two = fileForm("a");
    two.append("file", new File(["b"], "b"));
    await expectError(await send(tux, two, { path }), 400, "invalid_request");
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const cut = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello';
    await expectError(await send(tux, cut, { path, headers }), 400, "invalid_request");
    expect(await contentCount()).toBe(before);
  });

  it("names its limit for a file that is too large", async () => {
    const before = await contentCount();
    const path = `/files?appliance_id=${applianceId}`;
    const settings = { MAX_UPLOAD_MB: "1" };
    const large = fileForm(new Uint8Array(2 ** 20 + 1));
    expect(await expectError(await send(tux, large, { path, settings }), 400, "unknown_error")).toContain("1 MiB");
    const headers = { "content-length": "2000000000" };
    const announced = await send(tux, fileForm("a"), { path, settings, headers });
    expect(await expectError(announced, 400, "unknown_error")).toContain("1 MiB");
    expect(await contentCount()).toBe(before);
  });
});

describe("the disk quota", () => {
  const settings = { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) };
  const upload = (bytes: number) =>
    send(tux, fileForm(new Uint8Array(bytes)), { path: `/files?appliance_id=${applianceId}`, settings });

  it("counts overlay files, and content shared by clones once", async () => {
    await uploadFile(tux, applianceId, new Uint8Array(1500));
    await createAppliance(tux, { clone_from: applianceId });
    const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
    const request = new Request("https://kiln.test/api/v2/user/account", { headers: { authorization } });
    const { account } = await readXml(await app.fetch(request, { ...env, ...settings }));
    expect(account.disk_quota.used).toBe("50%");
  });

  it("refuses what does not fit, even among simultaneous uploads", async () => {
    const before = await contentCount();
    expect(await expectError(await upload(3001), 400, "unknown_error")).toMatch(/quota/);
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => upload(1400)))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(await contentCount()).toBe(before + 2);
  });

  it("lets new content replace old content", async () => {
    const { file } = await readXml(await upload(2900));
    const replace = (bytes: number) =>
      send(tux, fileForm(new Uint8Array(bytes)), { method: "PUT", path: `/files/${file.id}/data`, settings });
    expect((await readXml(await replace(2950))).file.size).toBe("2950");
    await expectError(await replace(3001), 400, "unknown_error");
    expect((await readXml(await tux.get(`/files/${file.id}`))).file.size).toBe("2950");
  });

  it("does not change last_edited when it refuses", async () => {
    const longAgo = Date.UTC(2012, 2, 1);
    const lastEdited = async () => (await readXml(await tux.get(`/appliances/${applianceId}`))).appliance.last_edited;
    await env.DB.prepare("UPDATE appliances SET last_edited_at = ? WHERE id = ?").bind(longAgo, applianceId).run();
    await expectError(await upload(3001), 400, "unknown_error");
    expect(await lastEdited()).toBe("2012-03-01 00:00:00 UTC");
    await upload(10);
    expect(await lastEdited()).not.toBe("2012-03-01 00:00:00 UTC");
  });
});
