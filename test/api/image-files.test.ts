import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { FileEntry } from "#lib/contract/index";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { fileStoreOf, type Node, type StoreBytes } from "../support/file-store.ts";
import { expectError } from "../support/xml.ts";

const passwd = "root:x:0:0:root:/root:/bin/bash\n";
const long = Array.from({ length: 40_000 }, (_, line) => `line ${line}\n`).join("");
/** Enough names to fill several blocks, with the tested ones among them. */
const crowd = Object.fromEntries(Array.from({ length: 3000 }, (_, nth) => [`/usr/share/doc/file-${nth}`, ""]));

let tux: Client;
let place: { applianceId: number; buildId: number };
beforeAll(async () => {
  tux = await signedIn();
  const store = fileStoreOf({
    ...crowd,
    "/etc/passwd": passwd,
    "/etc/people": { link: "/etc/./passwd" },
    "/etc/empty": "",
    "/etc/deep name/ü": "umlaut",
    "/lib": { link: "usr/lib" },
    "/usr/lib/long": long,
    "/dev/null": { type: "c" },
  });
  place = await createBuild(tux, undefined, { store });
});

const url = (path: string | undefined, { applianceId, buildId } = place) =>
  `/appliances/${applianceId}/image_files?build_id=${buildId}${path === undefined ? "" : `&path=${encodeURIComponent(path)}`}`;

/** Text of bytes that are declared as binary. */
const textOf = async (answer: Response) => new TextDecoder().decode(await answer.bytes());

describe("GET image_files", () => {
  it.each([
    ["a file", "/etc/passwd", passwd],
    ["a link", "/etc/people", passwd],
    ["a path through a link", "/lib/../lib/long", long],
    ["an empty file", "/etc/empty", ""],
    ["a name that needs encoding", "/etc/deep name/ü", "umlaut"],
    ["a path that tries to leave", "/../../etc/passwd", passwd],
  ])("returns the bytes of %s on both versions", async (_what, path, content) => {
    for (const client of [tux, tux.on("v1")]) {
      const answer = await client.get(url(path));

      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/octet-stream");
      expect(answer.headers.get("content-length")).toBe(String(bytesOf(content).byteLength));
      expect(await textOf(answer)).toBe(content);
    }
  });

  it("finds each of many names", async () => {
    for (const nth of [0, 1, 999, 1234, 2999]) {
      expect((await tux.get(url(`/usr/share/doc/file-${nth}`))).status).toBe(200);
    }
    await expectError(await tux.get(url("/usr/share/doc/file-3000")), 400, "invalid_path");
  });

  it("returns a range, and 304 if the client has the file", async () => {
    const range = await fetchWith("/usr/lib/long", { range: "bytes=100000-100004" });
    expect([range.status, await textOf(range)]).toEqual([206, long.slice(100_000, 100_005)]);
    const etag = range.headers.get("etag") ?? "";

    expect((await fetchWith("/usr/lib/long", { "if-none-match": etag })).status).toBe(304);
    expect((await fetchWith("/etc/passwd", { "if-none-match": etag })).status).toBe(200);
  });

  it("answers HEAD with only the length", async () => {
    const answer = await fetchWith("/etc/passwd", {}, "HEAD");

    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([
      200,
      String(passwd.length),
      "",
    ]);
  });

  it.each([
    ["/etc", "a directory"],
    ["/dev/null", "a device"],
    ["/etc/shadow", "a missing file"],
    [`/${"x".repeat(5000)}`, "too long a path"],
    ["/etc/passwd\0", "a NUL"],
  ])("refuses %s: %s", async (path) => {
    await expectError(await tux.get(url(path)), 400, "invalid_path");
  });

  it("checks its parameters one after the other", async () => {
    const message = await expectError(
      await tux.get(`/appliances/${place.applianceId}/image_files`),
      400,
      "missing_parameter",
    );
    expect(message).toContain("build_id");
    expect(await expectError(await tux.get(url(undefined)), 400, "missing_parameter")).toContain("path");
  });

  it("refuses a build of another appliance or account", async () => {
    const other = await signedIn();
    const theirs = await createBuild(other);
    const mine = await createBuild(tux);

    for (const buildId of [theirs.buildId, mine.buildId]) {
      await expectError(await tux.get(url("/etc/passwd", { ...place, buildId })), 400, "invalid_build_id");
    }
  });

  it("has no files of an unfinished build", async () => {
    const applianceId = await createAppliance(tux);
    const buildId = await startBuild(tux, applianceId);

    await expectError(await tux.get(url("/etc/passwd", { applianceId, buildId })), 400, "raw_image_unavailable");
  });
});

const fetchWith = (path: string, headers: Record<string, string>, method = "GET") => {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  return visit(`/api/v2/user${url(path)}`, { method, headers: { authorization, ...headers } });
};

const owned = { path: "/etc/x", mode: 0o644, uid: 0, gid: 0 };
const nodeOf = (entry: Partial<FileEntry>): Node => ({
  entry: { ...owned, type: "f", size: 5, offset: 0, length: 20, ...entry } as FileEntry,
});

describe("an invalid file store", () => {
  const cases: [string, StoreBytes][] = [
    ["has a file behind its end", fileStoreOf({ "/etc/x": nodeOf({ offset: 1_000_000 }) })],
    ["has an index that is no gzip", { ...fileStoreOf({}), index: new Uint8Array(200).fill(7) }],
    ["has an index of three bytes", { ...fileStoreOf({}), index: bytesOf("abc") }],
    ["has a table elsewhere", { ...fileStoreOf({}), index: tail("999999999999999") }],
    ["has a table that unpacks to too much", { ...fileStoreOf({}), index: bomb() }],
    ["has an entry of no type", fileStoreOf({ "/etc/x": nodeOf({ type: "z" as "f" }) })],
    ["has a block behind its end", { ...fileStoreOf({}), index: blockAt(1_000_000) }],
  ];

  it.each(cases)("is unavailable if it %s", async (_what, store) => {
    const built = await createBuild(tux, undefined, { store });
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});

    await expectError(await tux.get(url("/etc/x", built)), 400, "raw_image_unavailable");

    expect(complaint).toHaveBeenCalled();
    complaint.mockRestore();
  });

  it("never returns more than the announced bytes", async () => {
    const whole = fileStoreOf({ "/etc/long": long });
    const offset = fileStoreOf({}).files.byteLength;
    const length = whole.files.byteLength - offset;
    const store = { ...fileStoreOf({ "/etc/x": nodeOf({ offset, length }) }), files: whole.files };
    const built = await createBuild(tux, undefined, { store });

    expect(await textOf(await tux.get(url("/etc/x", built)))).toBe(long.slice(0, 5));
  });

  it("is unavailable if its blobs are missing", async () => {
    const { buildId, uid, applianceId } = await createBuild(tux, undefined, { store: fileStoreOf({ "/a": "a" }) });
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});

    await env.BLOBS.delete(`builds/${uid}/files-1`);
    await expectError(await tux.get(url("/a", { applianceId, buildId })), 400, "raw_image_unavailable");
    await env.BLOBS.delete(`builds/${uid}/files-index-1`);
    await expectError(await tux.get(url("/a", { applianceId, buildId })), 400, "raw_image_unavailable");

    complaint.mockRestore();
  });
});

const joined = (...pieces: Uint8Array[]) => Uint8Array.from(pieces.flatMap((piece) => [...piece]));
const pointer = (offset: string) => gzipSync(`${offset.padStart(15)}\n`, { level: 0 });

function tail(offset: string) {
  return joined(gzipSync("{}"), pointer(offset));
}

function bomb() {
  return joined(gzipSync(Buffer.alloc(20 * 1024 * 1024, " ")), pointer("0"));
}

function blockAt(offset: number) {
  const blocks = [{ first: "/", offset, length: 10 }];
  return joined(gzipSync(JSON.stringify({ formatVersion: 1, blocks })), pointer("0"));
}
