import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchContents, writeKeys } from "../../src/run/overlay.ts";
import { stagedContents, type FrozenFile } from "../../src/contract.ts";
import { temporaryDir } from "../support/agent-place.ts";

const blobs = ["11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"] as const;

const frozen = (content: string, blobId: string, more: Partial<FrozenFile> = {}): FrozenFile => ({
  path: "/etc/motd",
  mode: 0o644,
  owner: "root",
  group: "root",
  size: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
  blobId,
  ...more,
});

/** A fake Worker with these contents of build 7. */
async function startContents(contents: Record<string, string | number>) {
  const asked: string[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    asked.push(`${url} ${headers["x-kiln-attempt"]}`);
    const content = contents[url.replace("/agent/builds/7/contents/", "")] ?? 404;
    if (typeof content === "number") return void response.writeHead(content).end();
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    reach: { url, credentials: { "x-kiln-attempt": "token" }, allowHosts: [], buildUrl: `${url}/agent/builds/7` },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe("fetchContents", () => {
  it("writes each content next to the description once", async () => {
    await using dir = await temporaryDir();
    await using worker = await startContents({ [blobs[0]]: "hello", [blobs[1]]: "" });
    const files = [frozen("hello", blobs[0]), frozen("hello", blobs[0], { path: "/etc/issue" }), frozen("", blobs[1])];

    const { signal } = new AbortController();
    await fetchContents({ input: { files }, description: dir.path, reach: worker.reach, signal });

    const folder = join(dir.path, stagedContents);
    expect(readdirSync(folder).toSorted()).toEqual([...blobs]);
    expect(readFileSync(join(folder, blobs[0]), "utf8")).toBe("hello");
    expect(worker.asked).toEqual(blobs.map((blob) => `/agent/builds/7/contents/${blob} token`));
  });

  it("makes no request if there are no files", async () => {
    await using dir = await temporaryDir();
    await using worker = await startContents({});
    const { signal } = new AbortController();
    await fetchContents({ input: {}, description: dir.path, reach: worker.reach, signal });
    expect([worker.asked, readdirSync(dir.path)]).toEqual([[], []]);
  });

  it.each([
    ["other content", "hallo", "The file /etc/motd could not be fetched: it has changed since the build was started"],
    ["shorter content", "hell", "The file /etc/motd could not be fetched: it has changed since the build was started"],
    [
      "longer content",
      "hello!",
      "The file /etc/motd could not be fetched: it is larger than when the build was started",
    ],
    ["missing content", 404, "The file /etc/motd could not be fetched: GET: HTTP 404"],
  ])("refuses %s for a frozen file, and releases the build", async (_, content, reason) => {
    await using dir = await temporaryDir();
    await using worker = await startContents({ [blobs[0]]: content });
    const files = [frozen("hello", blobs[0])];
    const { signal } = new AbortController();
    const fetched = fetchContents({ input: { files }, description: dir.path, reach: worker.reach, signal });
    await expect(fetched).rejects.toMatchObject({ kind: "error", message: reason });
  });

  it("stops silently when its attempt is over", async () => {
    await using dir = await temporaryDir();
    await using worker = await startContents({ [blobs[0]]: 410 });
    const files = [frozen("hello", blobs[0])];
    const { signal } = new AbortController();
    const fetched = fetchContents({ input: { files }, description: dir.path, reach: worker.reach, signal });
    await expect(fetched).rejects.toMatchObject({ name: "RemoteRefusal", status: 410 });
  });
});

describe("writeKeys", () => {
  it("writes each key to a file, whose name owners cannot choose", async () => {
    await using dir = await temporaryDir();
    const fingerprint = "ab".repeat(20);
    const paths = await writeKeys({ keys: [{ name: "../../x", fingerprint, armour: "-----KEY" }] }, dir.path);
    expect(paths).toEqual([join(dir.path, `${fingerprint}.asc`)]);
    expect(readFileSync(paths[0] ?? "", "utf8")).toBe("-----KEY");
    expect(await writeKeys({}, dir.path)).toEqual([]);
  });
});
