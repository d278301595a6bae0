import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { writeFileStore, type FileStore } from "../../src/run/file-store.ts";
import { treeAt } from "../../src/run/root-walk.ts";
import { FileEntry, FileTable, orderOf, pointerBytes } from "../../src/contract.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** A root with these files, in its own directory. */
function makeRoot(dir: string, files: Record<string, string | Buffer>): string {
  const root = join(dir, "root");
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const passwd = "root:x:0:0:root:/root:/bin/sh\nalias:x:0:0::/:/bin/sh\nweb:x:33:33::/srv:/bin/false\nbroken line\n";
const group = "root:x:0:\nwww:x:33:web\n";

const store = (root: string, dir: string, signal = new AbortController().signal) =>
  writeFileStore(treeAt(root), { dir, signal });

/** The index as zcat prints it: entries, then the table, then the table's offset. */
function readIndex({ index }: FileStore) {
  const bytes = readFileSync(index.path);
  const tableAt = Number(gunzipSync(bytes.subarray(-pointerBytes)).toString());
  const { blocks } = FileTable.parse(JSON.parse(gunzipSync(bytes.subarray(tableAt, -pointerBytes)).toString()));
  const entries = blocks.flatMap(({ offset, length }) =>
    gunzipSync(bytes.subarray(offset, offset + length))
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => FileEntry.parse(JSON.parse(line))),
  );
  return { entries, blocks, byPath: new Map(entries.map((entry) => [entry.path, entry])) };
}

function contentOf({ files }: FileStore, entry: FileEntry | undefined): Buffer {
  if (entry?.type !== "f") throw new Error(`${entry?.path} is no regular file`);
  const { offset, length, size } = entry;
  const content = zstdDecompressSync(readFileSync(files.path).subarray(offset, offset + length));
  expect(content.length).toBe(size);
  return content;
}

/** Every content of the store once, in stored order. */
function allContents(store: FileStore): string {
  const byPlace = new Map(
    readIndex(store).entries.flatMap((entry) => (entry.type === "f" ? [[entry.offset, entry] as const] : [])),
  );
  const entries = [...byPlace.values()].toSorted((a, b) => a.offset - b.offset);
  return entries.map((entry) => contentOf(store, entry).toString()).join("");
}

describe("the file store of a root", () => {
  it("lists every path with its type and owner, from the root's accounts", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { "etc/passwd": passwd, "etc/group": group, "srv/page": "hello" });
    chownSync(join(root, "srv/page"), 33, 33);
    chmodSync(join(root, "srv/page"), 0o4750);
    chownSync(join(root, "srv"), 4711, 4712);
    symlinkSync("/srv/page", join(root, "etc/link"));
    execFileSync("mkfifo", [join(root, "srv/pipe")]);
    execFileSync("mknod", [join(root, "srv/null"), "c", "1", "3"]);

    const written = await store(root, dir.path);

    const { byPath } = readIndex(written);
    expect(byPath.get("/")).toMatchObject({ type: "d", owner: "root" });
    expect(byPath.get("/srv")).toEqual({ path: "/srv", type: "d", mode: 0o755, uid: 4711, gid: 4712 });
    expect(byPath.get("/srv/page")).toMatchObject({ type: "f", mode: 0o4750, uid: 33, owner: "web", group: "www" });
    expect(byPath.get("/etc/passwd")).toMatchObject({
      owner: "root",
      size: passwd.length,
      sha256: createHash("sha256").update(passwd).digest("hex"),
    });
    expect(byPath.get("/etc/link")).toMatchObject({ type: "l", target: "/srv/page" });
    expect(byPath.get("/srv/pipe")).toMatchObject({ type: "p" });
    expect(byPath.get("/srv/null")).toMatchObject({ type: "c" });
    expect(contentOf(written, byPath.get("/srv/page")).toString()).toBe("hello");
    expect(written.entries).toBe(byPath.size);
  });

  it("stores each content once: copies, hard links and empty files", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { a: "same", b: "same", "d/c": "other", empty: "", "d/empty": "" });
    linkSync(join(root, "a"), join(root, "d/hard"));

    const written = await store(root, dir.path);

    const { byPath } = readIndex(written);
    const placeOf = (path: string) => {
      const entry = byPath.get(path);
      return entry?.type === "f" ? entry.offset : undefined;
    };
    expect(new Set(["/a", "/b", "/d/hard"].map(placeOf)).size).toBe(1);
    expect(placeOf("/empty")).toBe(0);
    expect(placeOf("/d/empty")).toBe(0);
    expect(allContents(written)).toBe("sameother");
  });

  it("streams files larger than memory, with holes and copies", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { big: "begin", small: "small" });
    truncateSync(join(root, "big"), 40 * 1024 * 1024);
    execFileSync("cp", ["--sparse=always", join(root, "big"), join(root, "copy")]);

    const written = await store(root, dir.path);

    const { byPath } = readIndex(written);
    const content = contentOf(written, byPath.get("/big"));
    expect(content.equals(readFileSync(join(root, "big")))).toBe(true);
    expect(byPath.get("/copy")).toMatchObject({ ...byPath.get("/big"), path: "/copy" });
    expect(written.files.digests.size).toBeLessThan(1024 * 1024);
  });

  it("is ordered so that one block answers for a path", async () => {
    await using dir = await temporaryDir();
    const crowd = Object.fromEntries(Array.from({ length: 2000 }, (_, nth) => [`usr/share/${nth}-name`, ""]));
    const root = makeRoot(dir.path, { ...crowd, "a/b": "1", "a-b": "2", "a\u0001": "3", "ä/ü": "4", "x\ny": "5" });

    const { entries, blocks } = readIndex(await store(root, dir.path));

    const orders = entries.map(({ path }) => orderOf(path));
    expect(orders).toEqual(orders.toSorted());
    expect(new Set(orders).size).toBe(orders.length);
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks.map(({ first }) => first)).toEqual(
      entries.filter(({ path }) => blocks.some((one) => one.first === path)).map(({ path }) => path),
    );
    expect(entries.map(({ path }) => path)).toEqual(expect.arrayContaining(["/ä/ü", "/x\ny", "/a/b", "/a-b"]));
  });

  it("is identical for the same root", async () => {
    await using dir = await temporaryDir();
    await using other = await temporaryDir();
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, nth) => [`f${nth}`, `${"x".repeat(nth)}${nth % 7}`]),
    );
    const root = makeRoot(dir.path, files);

    const [first, second] = [await store(root, dir.path), await store(root, other.path)];

    expect(second.files.digests).toEqual(first.files.digests);
    expect(second.index.digests).toEqual(first.index.digests);
  });

  it("never leaves the root through a link, even for its accounts", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { "srv/page": "hello" });
    mkdirSync(join(dir.path, "outside"));
    writeFileSync(join(dir.path, "outside/passwd"), "spy:x:0:0::/:/bin/sh\n");
    symlinkSync(join(dir.path, "outside"), join(root, "etc"));
    symlinkSync("../../outside/passwd", join(root, "srv/passwd"));

    const written = await store(root, dir.path);

    const { byPath } = readIndex(written);
    expect(byPath.get("/etc")).toMatchObject({ type: "l" });
    expect(byPath.get("/")).not.toHaveProperty("owner");
    expect(byPath.get("/srv/passwd")).toMatchObject({ type: "l" });
    expect(allContents(written)).toBe("hello");
  });

  it("omits KIWI's own files and files of a running system only", async () => {
    await using dir = await temporaryDir();
    const left = ["image/config.xml", ".profile", "var/cache/kiwi/x", "proc/1", "sys/x", "dev/x", "run/x", "tmp/x"];
    const kept = ["etc/image", "var/cache/other", "var/run/x"];
    const root = makeRoot(dir.path, Object.fromEntries([...left, ...kept].map((path) => [path, "x"])));

    const { byPath } = readIndex(await store(root, dir.path));

    for (const path of left) expect(byPath.has(`/${path}`)).toBe(false);
    for (const path of [...kept, "proc", "sys", "dev", "run", "tmp"]) expect(byPath.has(`/${path}`)).toBe(true);
  });

  it("omits names that are not UTF-8", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { good: "x" });
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]), "y");

    const { entries } = readIndex(await store(root, dir.path));

    expect(entries.map(({ path }) => path)).toEqual(["/", "/good"]);
  });

  it("has bytes and a table even if the root has no files", async () => {
    await using dir = await temporaryDir();

    const written = await store(makeRoot(dir.path, {}), dir.path);

    expect(readIndex(written).entries).toMatchObject([{ path: "/", type: "d" }]);
    expect(written.files.digests.size).toBe(13); // an empty zstd frame with its checksum
  });

  it("stops when the build is stopped", async () => {
    await using dir = await temporaryDir();
    const root = makeRoot(dir.path, { a: "x" });
    const stop = new AbortController();
    stop.abort(new Error("stopped"));

    await expect(store(root, dir.path, stop.signal)).rejects.toThrow("stopped");
  });
});
