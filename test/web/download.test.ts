import { beforeAll, describe, expect, it } from "vitest";
import { operate, signedIn, visit } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { bytesOf, result, sha256 } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";

const image = bytesOf("0123456789");
let path: string;

beforeAll(async () => {
  const tux = await signedIn();
  const { buildId } = await createBuild(tux, image);
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  path = new URL(build.download_url).pathname;
});

const download = (headers: Record<string, string> = {}, method = "GET") => visit(path, { method, headers });

describe("GET download", () => {
  it("returns the whole file without credentials, as an attachment", async () => {
    const answer = await download();

    expect([answer.status, answer.statusText]).toEqual([200, "OK"]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "content-length": "10",
      "content-type": "application/gzip",
      "content-encoding": "identity",
      "content-disposition": `attachment; filename="${result.fileName}"`,
      etag: `"${sha256(image)}"`,
    });
    expect(await answer.bytes()).toEqual(image);
  });

  it.each([
    ["bytes=2-4", "bytes 2-4/10", "234"],
    ["bytes=7-", "bytes 7-9/10", "789"],
    ["bytes=-1", "bytes 9-9/10", "9"],
  ])("returns the range %s", async (range, contentRange, expected) => {
    const answer = await download({ range });

    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe(contentRange);
    expect(answer.headers.get("content-length")).toBe(String(expected.length));
    expect(await answer.bytes()).toEqual(bytesOf(expected));
  });

  it("answers 416 with the size for a range after the end", async () => {
    const answer = await download({ range: "bytes=10-" });

    expect([answer.status, answer.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  });

  it("answers 304 if the client already has the file", async () => {
    const etag = `"${sha256(image)}"`;

    for (const ifNoneMatch of [etag, `"other", W/${etag}`, "*"]) {
      const answer = await download({ "if-none-match": ifNoneMatch });
      expect([answer.status, await answer.text()]).toEqual([304, ""]);
    }
    expect((await download({ "if-none-match": '"other"' })).status).toBe(200);
  });

  it("returns a range only of the same file", async () => {
    const same = await download({ range: "bytes=2-4", "if-range": `"${sha256(image)}"` });
    const other = await download({ range: "bytes=2-4", "if-range": '"other"' });

    expect([same.status, other.status]).toEqual([206, 200]);
  });

  it.each([
    ["name", () => path.replace(result.fileName, "other.tar.gz")],
    ["token", () => path.replace(/download\/[^/]+/, "download/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")],
  ])("answers 404 for another %s", async (_what, other) => {
    expect((await visit(other())).status).toBe(404);
  });
});

describe("HEAD download", () => {
  it("returns only the headers", async () => {
    const answer = await download({}, "HEAD");

    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "10", ""]);
  });

  it("returns the headers of a range", async () => {
    const answer = await download({ range: "bytes=0-0" }, "HEAD");

    expect([answer.status, answer.headers.get("content-length")]).toEqual([206, "1"]);
  });
});

describe("GET repositories", () => {
  it("serves the operator's files", async () => {
    const put = await visit("/admin/repositories/tiny/main/repodata/repomd.xml", {
      method: "PUT",
      headers: { authorization: "Bearer test-admin-secret" },
      body: "<repomd/>",
    });
    expect(put.status).toBe(200);

    const answer = await visit("/repositories/tiny/main/repodata/repomd.xml");
    const range = await visit("/repositories/tiny/main/repodata/repomd.xml", { headers: { range: "bytes=1-6" } });
    const head = await visit("/repositories/tiny/main/repodata/repomd.xml", { method: "HEAD" });

    expect(await answer.bytes()).toEqual(bytesOf("<repomd/>"));
    expect(await range.bytes()).toEqual(bytesOf("repomd"));
    expect(head.headers.get("content-length")).toBe("9");
    await operate("DELETE", "/repositories/tiny/main/repodata/repomd.xml");
    expect((await visit("/repositories/tiny/main/repodata/repomd.xml")).status).toBe(404);
  });
});
