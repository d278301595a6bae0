import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchPackages } from "../../src/packages/package-files.ts";
import { packageFile } from "../../src/packages/package-file.ts";
import { StoredPackageFiles, type StoreOfBuild } from "../../src/packages/stored-packages.ts";
import { RemoteRefusal } from "../../src/retry.ts";
import { storedChecksum, type FrozenInput, type FrozenPackage } from "../../src/contract.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { fileAt, frozenPackage } from "../support/frozen-input.ts";

type Repositories = FrozenInput["repositories"];

/** A mirror that has only the files whose paths `has` accepts, and records its requests. */
async function mirrorOf(has: (path: string) => boolean) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    asked.push(path);
    if (!has(path)) response.statusCode = 404;
    response.end(has(path) ? fileAt(path.replace(/^\/(now|then)\//, "")) : "gone");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The Worker's state in memory after these packages were frozen. */
function store(packages: readonly FrozenPackage[], { isFull = false, isOlder = false } = {}) {
  const notes: string[] = [];
  const rows = packages.map(({ checksum }, index) => ({
    id: index + 1,
    repositoryId: 7,
    checksum: storedChecksum(checksum),
    pieces: [] as Uint8Array[],
    isComplete: false,
  }));
  const row = (id: number) => rows[id - 1] ?? expect.fail(`no package ${id}`);
  const api: StoreOfBuild["api"] = {
    listStored: async () => {
      if (isOlder) throw new RemoteRefusal("GET stored-packages", 404, "");
      return rows.map(({ id, repositoryId, checksum, pieces, isComplete }) => ({
        id,
        repositoryId,
        checksum,
        ...(isComplete && { pieces: pieces.length }),
      }));
    },
    readPiece: async (_, { packageId, piece }) => new Response(Buffer.from(row(packageId).pieces[piece - 1] ?? [])),
    putPiece: async (_, { packageId, piece, body, sha256 }) => {
      const bytes = Buffer.from(await new Response(body).arrayBuffer());
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
      row(packageId).pieces[piece - 1] = bytes;
    },
    completePackage: async (_, packageId) => (row(packageId).isComplete = !isFull),
  };
  const open = () =>
    new StoredPackageFiles({
      api,
      lease: { id: 1, token: "token" },
      signal: new AbortController().signal,
      onNote: (note) => void notes.push(note),
    });
  return { rows, notes, open };
}

const fetching = (packages: FrozenPackage[], repositories: Repositories, more: { dir: string; host: string }) =>
  ({
    input: { packages, repositories },
    dir: more.dir,
    reach: { url: "http://127.0.0.1:1", credentials: {}, allowHosts: [more.host] },
    signal: new AbortController().signal,
    onProgress: () => {},
  }) as const;

const repositoryAt = (host: string, more: Partial<Repositories[number]> = {}): Repositories => [
  { alias: "main", id: 7, name: "Main", url: `http://${host}/now`, ...more },
];

describe("packages that a mirror has dropped", () => {
  it.each(["rpm", "deb"])("come from the service, which an earlier build gave them to: %s", async (ending) => {
    const more = ending === "deb" ? { control: "Package: kept\n" } : {};
    const packages = [frozenPackage("kept", more), frozenPackage("also-kept", more)];
    const worker = store(packages);
    let isThere = true;
    await using mirror = await mirrorOf(() => isThere);
    await using first = await temporaryDir();
    const repositories = repositoryAt(mirror.host);
    await fetchPackages(fetching(packages, repositories, { dir: first.path, host: mirror.host }));
    const giving = worker.open();
    giving.give({ packages, repositories }, first.path);
    await giving.sent();

    isThere = false;
    await using second = await temporaryDir();
    const stored = worker.open();
    await fetchPackages({ ...fetching(packages, repositories, { dir: second.path, host: mirror.host }), stored });

    for (const one of packages) {
      expect(readFileSync(join(second.path, packageFile(one)), "utf8")).toBe(fileAt(one.location));
    }
    expect([worker.notes, packageFile(packages[0] ?? expect.fail()).endsWith(ending)]).toEqual([[], true]);
  });

  it("fail the build with the mirror's answer if the service does not have them", async () => {
    const packages = [frozenPackage("lost")];
    await using mirror = await mirrorOf(() => false);
    await using dir = await temporaryDir();
    const job = fetching(packages, repositoryAt(mirror.host), { dir: dir.path, host: mirror.host });

    await expect(fetchPackages({ ...job, stored: store(packages).open() })).rejects.toThrow(
      /^lost-1.0-1.noarch is missing: HTTP 404/,
    );
  });

  it("are not taken from the service if what it has is something else", async () => {
    const packages = [frozenPackage("garbled")];
    const worker = store(packages);
    worker.rows[0]?.pieces.push(Buffer.from("garbage"));
    for (const row of worker.rows) row.isComplete = true;
    await using mirror = await mirrorOf(() => false);
    await using dir = await temporaryDir();
    const job = fetching(packages, repositoryAt(mirror.host), { dir: dir.path, host: mirror.host });

    await expect(fetchPackages({ ...job, stored: worker.open() })).rejects.toThrow(/is missing: HTTP 404/);
  });
});

const snapshotUrl = (host: string) => ({ snapshotUrl: `http://${host}/then` });

describe("a repository with snapshots", () => {
  it("is read in its snapshot", async () => {
    await using mirror = await mirrorOf((path) => path.startsWith("/then/"));
    await using dir = await temporaryDir();
    const repositories = repositoryAt(mirror.host, snapshotUrl(mirror.host));

    await fetchPackages(fetching([frozenPackage("p")], repositories, { dir: dir.path, host: mirror.host }));

    expect(mirror.asked).toEqual(["/then/noarch/p-1.0-1.noarch.rpm"]);
  });

  it("is read at its own address if the snapshot is not there", async () => {
    await using mirror = await mirrorOf((path) => path.startsWith("/now/"));
    await using dir = await temporaryDir();
    const repositories = repositoryAt(mirror.host, snapshotUrl(mirror.host));

    await fetchPackages(fetching([frozenPackage("p")], repositories, { dir: dir.path, host: mirror.host }));

    expect(mirror.asked).toEqual(["/then/noarch/p-1.0-1.noarch.rpm", "/now/noarch/p-1.0-1.noarch.rpm"]);
  });
});

describe("giving packages to the service", () => {
  it("sends only those that it lacks", async () => {
    const packages = [frozenPackage("there"), frozenPackage("missing")];
    const worker = store(packages);
    const [there, missing] = worker.rows;
    if (there) there.isComplete = there.pieces.push(Buffer.from("as it is")) > 0;
    await using dir = await temporaryDir();
    for (const one of packages) writeFileSync(join(dir.path, packageFile(one)), fileAt(one.location));

    const giving = worker.open();
    giving.give({ packages, repositories: repositoryAt("127.0.0.1:1") }, dir.path);
    await giving.sent();

    expect(there?.pieces.map(String)).toEqual(["as it is"]);
    expect(missing?.pieces.map(String)).toEqual([fileAt(packages[1]?.location ?? "")]);
  });

  it("is silent about a service of an older version, which stores none", async () => {
    const packages = [frozenPackage("one")];
    const worker = store(packages, { isOlder: true });
    await using dir = await temporaryDir();

    const giving = worker.open();
    giving.give({ packages, repositories: repositoryAt("127.0.0.1:1") }, dir.path);
    await giving.sent();

    expect(worker.notes).toEqual([]);
  });

  it("stops with a note when the service stores no more, and never fails a build", async () => {
    const packages = [frozenPackage("one"), frozenPackage("two"), frozenPackage("three")];
    const worker = store(packages, { isFull: true });
    await using dir = await temporaryDir();
    for (const one of packages) writeFileSync(join(dir.path, packageFile(one)), fileAt(one.location));

    const giving = worker.open();
    giving.give({ packages, repositories: repositoryAt("127.0.0.1:1") }, dir.path);
    await giving.sent();
    const without = store(packages);
    const lost = without.open();
    lost.give({ packages, repositories: repositoryAt("127.0.0.1:1") }, join(dir.path, "not-there"));
    await lost.sent();

    expect(worker.notes).toEqual(["the service stores no more packages for later builds: its limit is reached"]);
    expect(without.notes).toEqual([expect.stringContaining("could not store all packages for later builds")]);
  });
});
