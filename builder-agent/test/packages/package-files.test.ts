import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchPackages } from "../../src/packages/package-files.ts";
import type { FrozenPackage } from "../../src/contract.ts";
import { agentToken, startFakeWorker } from "../fake-worker.ts";
import { PackageCache } from "../../src/packages/package-cache.ts";
import { silent, temporaryDir } from "../support/agent-place.ts";
import { fetching, reaching } from "../support/fetching.ts";
import { fileAt, frozenPackage } from "../support/frozen-input.ts";

/** A mirror that answers with `answer`, and counts requests. */
async function startMirror(answer: (path: string, response: ServerResponse) => void) {
  const paths: string[] = [];
  let open = 0;
  let maxAtOnce = 0;
  const server = createServer((request: IncomingMessage, response) => {
    paths.push(request.url ?? "");
    maxAtOnce = Math.max(maxAtOnce, ++open);
    response.on("close", () => open--);
    answer(request.url ?? "", response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    paths,
    maxAtOnce: () => maxAtOnce,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const serve = (path: string, response: ServerResponse) =>
  void response.end(fileAt(decodeURIComponent(path).replace("/tiny/", "")));

const sha256Of = (text: string) => ({
  type: "sha256" as const,
  value: createHash("sha256").update(text).digest("hex"),
});

describe("fetchPackages", () => {
  it("stores each file under its checksum, and reports progress", async () => {
    // The mirror answers only after a second request has arrived.
    const held: (() => void)[] = [];
    await using mirror = await startMirror((path, response) => {
      held.push(() => serve(path, response));
      if (held.length > 1) for (const answer of held.splice(0)) answer();
    });
    await using dir = await temporaryDir();
    const packages = Array.from({ length: 20 }, (_, index) => frozenPackage(`p${index}`));
    const told: number[] = [];

    await fetching(packages, `http://${mirror.host}/tiny/`, {
      dir: dir.path,
      reach: reaching(mirror.host),
      onProgress: (fraction) => void told.push(fraction),
    });

    expect(readdirSync(dir.path).toSorted()).toEqual(
      packages.map(({ checksum }) => `${checksum.value}.rpm`).toSorted(),
    );
    const [first] = packages;
    expect(readFileSync(join(dir.path, `${first?.checksum.value}.rpm`), "utf8")).toBe(fileAt(first?.location ?? ""));
    expect(told).toEqual(packages.map((_, index) => (index + 1) / 20));
    expect(mirror.maxAtOnce()).toBeLessThanOrEqual(6);
  });

  it("encodes plus, tilde and caret in names as mirrors expect", async () => {
    await using mirror = await startMirror(serve);
    await using dir = await temporaryDir();

    const one = frozenPackage("gcc-c++", { version: "12~rc1^git", release: "9+deb12" });
    await fetching([one], `http://${mirror.host}/tiny`, { dir: dir.path, reach: reaching(mirror.host) });

    expect(mirror.paths).toEqual(["/tiny/noarch/gcc-c++-12~rc1%5Egit-9+deb12.noarch.rpm"]);
  });

  it("sends the attempt token for user repositories, and not for catalogues", async () => {
    await using worker = await startFakeWorker();
    await using dir = await temporaryDir();
    const credentials = { authorization: `Bearer ${agentToken}`, "x-kiln-attempt": "attempt-1" };
    const reach = { url: worker.url, credentials, allowHosts: [], buildUrl: `${worker.url}/agent/builds/5` };

    const location = "packages/5a7c8d3e-0c5d-4f0e-9d4c-2f7a3b1c9e10/0/mine-1.0-1.noarch.rpm";
    const mine = frozenPackage("mine", {
      location,
      size: fileAt(location).length,
      checksum: sha256Of(fileAt(location)),
    });
    await fetching([mine], "service:/user/7", { dir: dir.path, reach });
    await fetching([frozenPackage("theirs")], "service:/repositories/tiny/main", { dir: dir.path, reach });

    expect(worker.downloads).toEqual([
      { path: `/agent/builds/5/${location}`, token: "attempt-1" },
      { path: "/repositories/tiny/main/noarch/theirs-1.0-1.noarch.rpm", token: undefined },
    ]);
    expect(readdirSync(dir.path)).toHaveLength(2);
  });

  it("reaches a private mirror of catalogues for a repository of a catalogue only", async () => {
    await using mirror = await startMirror(serve);
    const hello = frozenPackage("hello");
    await using dir = await temporaryDir();
    const fetchingWith = (isOfCatalogue?: true) =>
      fetchPackages({
        input: {
          packages: [hello],
          repositories: [
            {
              alias: "main",
              id: 7,
              name: "Main",
              url: `http://${mirror.host}/tiny`,
              ...(isOfCatalogue && { isOfCatalogue }),
            },
          ],
        },
        dir: dir.path,
        reach: { ...reaching(), catalogueHosts: [mirror.host] },
        signal: new AbortController().signal,
        onProgress: () => {},
      });

    await expect(fetchingWith()).rejects.toThrow(/private network/);
    expect(mirror.paths).toEqual([]);
    await fetchingWith(true);
    expect(mirror.paths).toHaveLength(1);
  });

  it.each(["md5", "sha1", "sha512"] as const)("verifies %s checksums", async (type) => {
    await using mirror = await startMirror(serve);
    await using dir = await temporaryDir();
    const { location } = frozenPackage("hello");
    const good = { type, value: createHash(type).update(fileAt(location)).digest("hex") };
    const bad = { type, value: good.value.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) };
    const get = (checksum: FrozenPackage["checksum"]) =>
      fetching([frozenPackage("hello", { checksum })], `http://${mirror.host}/tiny`, {
        dir: dir.path,
        reach: reaching(mirror.host),
      });

    await get(good);
    await expect(get(bad)).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringContaining(`hello-1.0-1.noarch from http://${mirror.host}/tiny is not the file`),
    });
  });

  it.each([
    ["longer", (text: string) => `${text}!`],
    ["shorter", (text: string) => text.slice(1)],
    ["of the same length", (text: string) => text.replace("the", "THE")],
  ])("refuses a file that is %s, immediately", async (_, change) => {
    await using mirror = await startMirror((path, response) => {
      response.end(change(fileAt(path.replace("/tiny/", ""))));
    });
    await using dir = await temporaryDir();

    const refused = fetching([frozenPackage("hello")], `http://${mirror.host}/tiny`, {
      dir: dir.path,
      reach: reaching(mirror.host),
    });

    await expect(refused).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringContaining("is not the file"),
    });
    expect(mirror.paths).toHaveLength(1);
  });

  it("accepts a file of any size if the metadata has none", async () => {
    await using mirror = await startMirror(serve);
    await using dir = await temporaryDir();

    await fetching([frozenPackage("hello", { size: 0 })], `http://${mirror.host}/tiny`, {
      dir: dir.path,
      reach: reaching(mirror.host),
    });

    expect(readdirSync(dir.path)).toHaveLength(1);
  });

  it("retries a failing mirror", async () => {
    let tries = 0;
    await using mirror = await startMirror((path, response) => {
      if (++tries < 3) response.writeHead(503).end();
      else serve(path, response);
    });
    await using dir = await temporaryDir();

    await fetching([frozenPackage("hello")], `http://${mirror.host}/tiny`, {
      dir: dir.path,
      reach: reaching(mirror.host),
    });

    expect(tries).toBe(3);
  });

  it("names the package that a mirror has lost, and stops", async () => {
    await using mirror = await startMirror((_, response) => void response.writeHead(404).end());
    await using dir = await temporaryDir();
    const packages = Array.from({ length: 30 }, (_, index) => frozenPackage(`p${index}`));

    const lost = fetching(packages, `http://${mirror.host}/tiny`, { dir: dir.path, reach: reaching(mirror.host) });

    await expect(lost).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/^p\d-1\.0-1\.noarch is missing: HTTP 404 from http:.*Refresh the repository/),
    });
    expect(mirror.paths.length).toBeLessThan(15);
  });

  it("follows a mirror's redirects, but not to a private address", async () => {
    await using far = await startMirror(serve);
    await using near = await startMirror((path, response) => {
      response.writeHead(302, { location: `http://${far.host}${path}` }).end();
    });
    await using dir = await temporaryDir();
    const get = (...hosts: string[]) =>
      fetching([frozenPackage("hello")], `http://${near.host}/tiny`, { dir: dir.path, reach: reaching(...hosts) });

    await get(near.host, far.host);
    expect(far.paths).toHaveLength(1);
    await expect(get(near.host)).rejects.toMatchObject({
      kind: "failed",
      message: `A repository cannot be used: ${far.host} is an address in a private network.`,
    });
    expect(far.paths).toHaveLength(1);
  });

  it.each(["../../etc/passwd", "/etc/passwd", "a/./b.rpm", "a//b.rpm"])(
    "refuses the location %s without a request",
    async (location) => {
      await using mirror = await startMirror(serve);
      await using dir = await temporaryDir();

      const refused = fetching([frozenPackage("hello", { location })], `http://${mirror.host}/tiny`, {
        dir: dir.path,
        reach: reaching(mirror.host),
      });

      await expect(refused).rejects.toMatchObject({ kind: "failed", message: expect.stringContaining(location) });
      expect(mirror.paths).toEqual([]);
    },
  );

  it("requests a package once for several builds", async () => {
    await using mirror = await startMirror(serve);
    await using dir = await temporaryDir();
    const packageCache = await PackageCache.open(join(dir.path, "kept"), 1e6, silent);
    const packages = Array.from({ length: 8 }, (_, index) => frozenPackage(`p${index}`));
    const build = (name: string) => {
      mkdirSync(join(dir.path, name));
      return fetching(packages, `http://${mirror.host}/tiny`, {
        dir: join(dir.path, name),
        reach: reaching(mirror.host),
        packageCache,
      });
    };

    await Promise.all([build("first"), build("second")]);
    await build("third");

    expect(mirror.paths).toHaveLength(8);
    for (const name of ["first", "second", "third"]) expect(readdirSync(join(dir.path, name))).toHaveLength(8);
  });

  it("ends when the build is stopped", async () => {
    await using mirror = await startMirror(() => stop.abort(new Error("stopped")));
    await using dir = await temporaryDir();
    const stop = new AbortController();

    const stopped = fetching([frozenPackage("hello")], `http://${mirror.host}/tiny`, {
      dir: dir.path,
      reach: reaching(mirror.host),
      signal: stop.signal,
    });

    await expect(stopped).rejects.toThrow("stopped");
  });
});
