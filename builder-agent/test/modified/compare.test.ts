import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModifiedFile, ModifiedFilter, ModifiedOrder } from "../../src/contract.ts";
import { answerFrom, type Answered } from "../../src/modified/answers.ts";
import { writeTar } from "../../src/modified/tar-writer.ts";
import { makeDisk, partitionAt, readingOf, type TestDisk } from "./disks.ts";

const noFilter = { paths: [], except: [] };
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kiln-modified-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function ask(disk: TestDisk, overlay: string, order: Partial<ModifiedOrder> = {}): Promise<Answered> {
  await using reading = await readingOf(disk.raw, overlay);
  const wanted = { kind: "list" as const, withDifferences: true };
  const whole: ModifiedOrder = { request: crypto.randomUUID(), filter: noFilter, wanted, ...order };
  const answer = await answerFrom(reading, whole, new AbortController().signal);
  if (answer.kind !== "content") return answer;
  const bytes = Buffer.concat(await Array.fromAsync(answer.bytes));
  return {
    ...answer,
    bytes: (async function* () {
      yield bytes;
    })(),
  };
}

async function list(disk: TestDisk, overlay: string, filter: ModifiedFilter = noFilter): Promise<ModifiedFile[]> {
  const answer = await ask(disk, overlay, { filter });
  if (answer.kind !== "list") throw new Error(JSON.stringify(answer));
  return answer.files;
}

const file = (name: string, text: string | Buffer): string => {
  writeFileSync(join(dir, name), text);
  return name;
};

const passwd = "root:x:0:0::/root:/bin/sh\nclerk:x:1234:100::/srv/clerk:/bin/sh\n";
const tree = {
  "/etc/motd": "one\ntwo\nthree\n",
  "/etc/passwd": passwd,
  "/etc/group": "users:x:100:\n",
  "/etc/link": { target: "motd" },
  "/srv/gone/a": "a\n",
  "/srv/logo": { bytes: Buffer.from([1, 2, 3]) },
  "/usr/tool": { text: "#!/bin/sh\n", mode: 0o755 },
};

describe("the modified files of a session", () => {
  it.each(["gpt", "dos"])("are none for a new overlay on a %s disk", async (label) => {
    const disk = makeDisk(dir, tree, { label });
    expect(await list(disk, disk.overlay([]))).toEqual([]);
  });

  it("omit secrets on request", async () => {
    const disk = makeDisk(dir, { ...tree, "/etc/shadow": "root:old\n" });
    const overlay = disk.overlay([
      "rm /etc/shadow",
      `write ${file("shadow", "root:another\n")} /etc/shadow`,
      "mkdir /root",
      "mkdir /root/.ssh",
      `write ${file("id_rsa", "key\n")} /root/.ssh/id_rsa`,
      `write ${file("config", "Host *\n")} /root/.ssh/config`,
    ]);
    const pathsOf = async (filter: ModifiedFilter) => (await list(disk, overlay, filter)).map(({ path }) => path);

    const all = await pathsOf(noFilter);
    expect(all).toEqual(expect.arrayContaining(["/etc/shadow", "/root/.ssh/id_rsa"]));
    const secrets = ["/etc/shadow", "/root/.ssh/id_rsa"];
    expect(await pathsOf({ ...noFilter, withoutSecrets: true })).toEqual(all.filter((path) => !secrets.includes(path)));
    expect(await pathsOf({ paths: secrets, except: [], withoutSecrets: true })).toEqual([]);
  });

  it("are listed with their old and new state, by path", async () => {
    const disk = makeDisk(dir, tree);
    const overlay = disk.overlay([
      "rm /etc/motd",
      `write ${file("motd", "one\n2\nthree\n")} /etc/motd`,
      "rm /srv/gone/a",
      "rmdir /srv/gone",
      "mkdir /srv/new",
      `write ${file("b", "new\n")} /srv/new/b`,
      "set_inode_field /srv/new/b uid 1234",
      "set_inode_field /srv/new/b gid 100",
      "set_inode_field /srv/new/b mode 0104755",
      "set_inode_field /usr/tool mode 0100700",
      "rm /etc/link",
      "symlink /etc/link passwd",
    ]);
    const root = { uid: 0, gid: 0, owner: "root" };
    const file644 = { type: "f", mode: 0o644, ...root };
    expect(await list(disk, overlay)).toEqual([
      {
        ...root,
        change: "changed",
        path: "/etc/link",
        type: "l",
        mode: 0o777,
        size: 0,
        content: true,
        target: "passwd",
      },
      {
        ...file644,
        change: "changed",
        path: "/etc/motd",
        size: 12,
        content: true,
        difference: "--- a/etc/motd\n+++ b/etc/motd\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      },
      { ...root, change: "deleted", path: "/srv/gone", type: "d", mode: 0o755, size: 0, content: true },
      {
        ...file644,
        change: "deleted",
        path: "/srv/gone/a",
        size: 2,
        content: true,
        difference: "--- a/srv/gone/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
      },
      { ...root, change: "added", path: "/srv/new", type: "d", mode: 0o755, size: 0, content: true },
      {
        change: "added",
        path: "/srv/new/b",
        type: "f",
        size: 4,
        content: true,
        mode: 0o4755,
        uid: 1234,
        gid: 100,
        owner: "clerk",
        group: "users",
        difference: "--- /dev/null\n+++ b/srv/new/b\n@@ -0,0 +1 @@\n+new\n",
      },
      { ...root, change: "changed", path: "/usr/tool", type: "f", mode: 0o700, size: 10, content: false },
    ]);
  });

  it("can be filtered by included and excluded paths", async () => {
    const disk = makeDisk(dir, tree);
    const added = ["/etc/x", "/etcetera", "/srv/y"].map((path) => `write ${file("x", "x")} ${path}`);
    const overlay = disk.overlay(added);
    const paths = async (filter: typeof noFilter | { paths: string[]; except: string[] }) =>
      (await list(disk, overlay, filter as typeof noFilter)).map(({ path }) => path);
    expect(await paths({ paths: ["/etc"], except: [] })).toEqual(["/etc/x"]);
    expect(await paths({ paths: ["/srv/y", "/etcetera"], except: [] })).toEqual(["/etcetera", "/srv/y"]);
    expect(await paths({ paths: ["/"], except: ["/etc"] })).toEqual(["/etcetera", "/srv/y"]);
  });

  it("omit names that are not text, and count them", async () => {
    const disk = makeDisk(dir, tree);
    const answer = await ask(disk, disk.overlay([`write ${file("x", "x")} "/etc/bad\u0001name"`]));
    expect(answer).toMatchObject({ kind: "list", files: [], unnamed: 1 });
  });

  it("are found quickly next to a sparse file of 200 GiB whose times have changed", async () => {
    const disk = makeDisk(dir, { ...tree, "/srv/sparse": "a\n" });
    const grow = `sif /srv/sparse size ${200 * 1024 ** 3}`;
    execFileSync("debugfs", ["-w", "-R", grow, `${disk.raw}?offset=${partitionAt}`], { stdio: "pipe" });
    const overlay = disk.overlay(["sif /srv/sparse mtime 1000", "sif /etc/motd mode 0100600"]);
    const started = performance.now();
    expect((await list(disk, overlay)).map(({ path }) => path)).toEqual(["/etc/motd"]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("end at ten thousand, with a note", async () => {
    const disk = makeDisk(dir, tree, { options: ["-N", "14000"] });
    const links = Array.from({ length: 10_100 }, (_, at) => `symlink /srv/${at % 100}/${at} x`);
    const directories = Array.from({ length: 100 }, (_, at) => `mkdir /srv/${at}`);
    const answer = await ask(disk, disk.overlay([...directories, ...links]));
    if (answer.kind !== "list") throw new Error(JSON.stringify(answer));
    expect(answer.truncated).toBe(true);
    expect(answer.files).toHaveLength(10_000);
  });

  it("have no text difference if they are binary or large", async () => {
    const disk = makeDisk(dir, tree);
    const overlay = disk.overlay([
      "rm /srv/logo",
      `write ${file("logo", Buffer.from([0, 2, 3, 4]))} /srv/logo`,
      `write ${file("large", "line\n".repeat(20_000))} /srv/large`,
    ]);
    const found = await list(disk, overlay);
    expect(found.map(({ path }) => path)).toEqual(["/srv/large", "/srv/logo"]);
    for (const each of found) expect(each).not.toHaveProperty("difference");
  });
});

describe("the content of a session", () => {
  it("is returned byte for byte, including holes", async () => {
    const disk = makeDisk(dir, tree);
    const big = Buffer.alloc(3 * 1024 * 1024);
    for (let at = 0; at < big.length; at += 70_000) big.writeUInt32LE(at + 1, at);
    const overlay = disk.overlay([`write ${file("big", big)} /srv/big`]);
    const answer = await ask(disk, overlay, { wanted: { kind: "data", path: "/srv/big" } });
    if (answer.kind !== "content") throw new Error(answer.kind);
    expect(answer.size).toBe(big.length);
    expect(Buffer.concat(await Array.fromAsync(answer.bytes)).equals(big)).toBe(true);
  });

  it.each(["/srv/none", "/srv", "/etc/link", "/etc/motd/x"])("is refused for %s", async (path) => {
    const disk = makeDisk(dir, tree);
    const answer = await ask(disk, disk.overlay([]), { wanted: { kind: "data", path } });
    expect(answer).toMatchObject({ kind: "refused", why: "no_file" });
  });

  it("is also an archive that tar reads", async () => {
    const disk = makeDisk(dir, tree);
    const name = `ü${"n".repeat(150)}`;
    const overlay = disk.overlay([
      "mkdir /srv/new",
      `write ${file("x", "content\n")} /srv/new/${name}`,
      `set_inode_field /srv/new/${name} uid 1234`,
      "symlink /srv/new/link ../target",
      "rm /etc/motd",
    ]);
    const answer = await ask(disk, overlay, { wanted: { kind: "archive" } });
    if (answer.kind !== "content") throw new Error(answer.kind);
    const archive = join(dir, "archive.tar.gz");
    writeFileSync(archive, Buffer.concat(await Array.fromAsync(answer.bytes)));
    const listing = execFileSync("tar", ["-tvzf", archive, "--numeric-owner", "--quoting-style=literal"], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C.UTF-8" },
    });
    const lines = listing.trim().split("\n");
    expect(lines[0]).toMatch(/^drwxr-xr-x 0\/0 .* srv\/new\/?$/);
    expect(lines[1]).toMatch(/^lrwxrwxrwx 0\/0 .* srv\/new\/link -> \.\.\/target$/);
    expect(lines[2]).toMatch(/^-rw-r--r-- 1234\/0 +8 /);
    expect(lines[2]).toContain(`srv/new/${name}`);
    execFileSync("tar", ["-xzf", archive, "-C", dir]);
    expect(readFileSync(join(dir, "srv/new", name), "utf8")).toBe("content\n");
  });

  it("keep the bytes of a link's target in the archive", async () => {
    const { raw, overlay } = makeDisk(dir, { "/etc/latin1": { target: Buffer.from("caf\xe9", "latin1") } });
    await using reading = await readingOf(raw, overlay([]));
    const { after: files } = reading.sides;
    const after = (await files.at("/etc/latin1")) ?? null;
    const change = { change: "added" as const, path: "/etc/latin1", before: null, after, content: true };
    const tar = Buffer.concat(await Array.fromAsync(writeTar(files, [change])));
    expect(execFileSync("tar", ["-tv", "--quoting-style=literal"], { input: tar, encoding: "latin1" })).toContain(
      "etc/latin1 -> caf\xe9\n",
    );
  });
});
