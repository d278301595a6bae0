import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newMachine, run, type Machine } from "./support/machine.ts";
import { newKey, signedInto, signedProvenance, signedStatement, standIn, type StandIn } from "./support/service.ts";

const key = newKey();
const image = randomBytes(6 * 1024 ** 2);
const name = "First.x86_64-0.0.1.oem.tar.gz";
const bills = { [`${name}.spdx.json`]: "{}", [`${name}.cdx.json`]: "{}" };

let machine: Machine;
let service: StandIn;
let store: Store;
/** By path, without the slash. */
let answers: Record<string, string | Uint8Array>;

/** A server of images: it cuts a connection after `cutAfter` bytes as often as requested, and then answers normally. */
interface Store {
  url: string;
  ranges: (string | undefined)[];
  /** false: it always sends the whole file, with status 200. */
  hasRanges: boolean;
  cuts: number;
  afterCut: () => void;
  start: () => Promise<void>;
  stop: () => Promise<void>;
}

async function newStore(answers: Record<string, string | Uint8Array>): Promise<Store> {
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const content = Buffer.from(answers[request.url?.slice(1) ?? ""] ?? "");
    if (content.length === 0) return response.writeHead(404).end();
    if (request.url !== `/${name}`) return response.end(content);
    const range = made.hasRanges ? request.headers.range : undefined;
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    made.ranges.push(request.headers.range);
    if (from >= content.length) return response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    const headers = { "content-length": content.length - from };
    const part = { ...headers, "content-range": `bytes ${from}-${content.length - 1}/${content.length}` };
    response.writeHead(range ? 206 : 200, range ? part : headers);
    if (made.cuts === 0) return response.end(content.subarray(from));
    made.cuts -= 1;
    return response.write(content.subarray(from, from + 1024 ** 2), () => {
      response.socket?.destroySoon();
      if (made.cuts === 0) made.afterCut();
    });
  };
  let server: Server;
  let port = 0;
  const made: Store = {
    url: "",
    ranges: [],
    hasRanges: true,
    cuts: 0,
    afterCut: () => undefined,
    start: async () => {
      server = createServer(serve);
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      ({ port } = server.address() as AddressInfo);
      made.url = `http://127.0.0.1:${port}`;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await made.start();
  return made;
}

beforeEach(async () => {
  machine = newMachine();
  answers = { [name]: image, ...bills, [`${name}.intoto.jsonl`]: signedProvenance({ [name]: image, ...bills }, key) };
  store = await newStore(answers);
  const sha1 = createHash("sha1").update(image).digest("hex");
  const kind = { version: "0.0.1", image_type: "oem" };
  const build = {
    id: 12,
    ...kind,
    state: "finished",
    expired: false,
    checksum: { sha1 },
    download_url: `${store.url}/${name}`,
    use: { what: "A tar archive.", ways: [{ title: "Unpack it", note: "It is large.", lines: [`tar -xzf ${name}`] }] },
  };
  service = await standIn({ ...signedInto(key), "/api/v2/user/builds/12": { build } });
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
});
afterEach(async () => {
  await Promise.all([service[Symbol.asyncDispose](), store.stop()]);
  machine[Symbol.dispose]();
});

const stored = (file: string) => join(machine.folder, file);

it("brings an image over a connection that is cut three times, with a restart of the service in the middle", async () => {
  store.cuts = 3;
  const restarted = new Promise<void>((resolve, reject) => {
    store.afterCut = () => void store.stop().then(store.start).then(resolve, reject);
  });
  const ended = await machine.kiln(["download", "12"]);
  await restarted;
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${name} is verified.`) });
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
  expect(ended.stderr).toContain("Waiting for the service");
  expect(store.ranges[0]).toBeUndefined();
  expect(store.ranges).toHaveLength(4);
  expect(new Set(store.ranges).size).toBe(4);
});

it("prints what the file is, and how to start it", async () => {
  const { stdout } = await machine.kiln(["download", "12"]);
  expect(stdout).toContain(`A tar archive.\n\nUnpack it:\n  It is large.\n    tar -xzf ${name}`);
  const json = JSON.parse((await machine.kiln(["download", "12", "--json"])).stdout);
  expect(json.use.ways[0].lines).toEqual([`tar -xzf ${name}`]);
});

it("goes on where an earlier run ended", async () => {
  writeFileSync(stored(`${name}.12.part`), image.subarray(0, 5_000_000));
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(store.ranges).toEqual(["bytes=5000000-"]);
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
  expect(readdirSync(machine.folder).filter((file) => file.endsWith(".part"))).toEqual([]);
});

it("begins again if the part is longer than the image", async () => {
  writeFileSync(stored(`${name}.12.part`), Buffer.concat([image, image.subarray(0, 5)]));
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
});

it("refuses a file that another process is downloading", async () => {
  writeFileSync(stored(`${name}.lock`), `${process.pid}\n`);
  expect(await machine.kiln(["download", "12"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Another kiln (process ${process.pid}) is downloading ${name}.`),
  });
  expect(store.ranges).toEqual([]);
});

it("ignores the lock of a process that was killed, and leaves none", async () => {
  const { pid } = spawnSync("true");
  writeFileSync(stored(`${name}.lock`), `${pid}\n`);
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(existsSync(stored(`${name}.lock`))).toBe(false);
});

it("begins again if the server ignores Range", async () => {
  store.hasRanges = false;
  writeFileSync(stored(`${name}.12.part`), image.subarray(0, 5_000_000));
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(store.ranges).toEqual(["bytes=5000000-"]);
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
});

it("downloads nothing twice", async () => {
  await machine.kiln(["download", "12"]);
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(store.ranges).toHaveLength(1);
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
});

it("leaves no image that is not the build's", async () => {
  writeFileSync(stored(`${name}.12.part`), Buffer.alloc(5_000_000));
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 6 });
  expect([existsSync(stored(name)), existsSync(stored(`${name}.12.part`))]).toEqual([false, false]);
});

it("brings every image of a version", async () => {
  const list = [13, 12, 11].map((id) => ({
    id,
    state: "finished",
    expired: false,
    image_type: id === 13 ? "iso" : "oem",
    version: id === 11 ? "0.0.1" : "0.0.2",
  }));
  service.answers["/api/v2/user/builds"] = { builds: list };
  service.answers["/api/v2/user/builds/13"] = service.answers["/api/v2/user/builds/12"] ?? {};
  service.answers["/api/v2/user/builds/11"] = service.answers["/api/v2/user/builds/12"] ?? {};
  const asked = () => service.requests.flatMap((one) => /builds\/(\d+)$/.exec(one)?.[1] ?? []);
  const all = await machine.kiln(["download", "1000", "--all", "--json", "--unverified"]);
  expect([JSON.parse(all.stdout).images.length, asked()]).toEqual([2, ["13", "12"]]);
  await machine.kiln(["download", "1000", "--version", "0.0.1", "--unverified"]);
  expect(asked()).toEqual(["13", "12", "11"]);
  expect(await machine.kiln(["download", "1000", "--version", "9.9.9"])).toMatchObject({
    code: 9,
    stderr: expect.stringContaining("Version 9.9.9 of 1000 has no image yet."),
  });
});

it("reports immediately that the disk is full", async () => {
  const { env, folder: cwd } = machine;
  // In blocks of 512 bytes. A write beyond the limit fails like one on a full disk.
  const ended = await run("sh", ["-c", "ulimit -f 4096; exec kiln download 12"], { env, input: "", cwd });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(/part cannot be written: EFBIG.*\n.*free space on the disk/);
  expect(store.ranges).toHaveLength(1);
});

it("reports a folder that cannot be made, also as JSON", async () => {
  writeFileSync(stored("taken"), "");
  const message = "taken cannot be created: file already exists (EEXIST).";
  const next = "Check the path, its permissions and the free space on the disk.";
  expect(await machine.kiln(["download", "12", "--output", "taken"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `kiln: ${message}\n${next}\n`,
  });
  const { code, stderr } = await machine.kiln(["download", "12", "--output", "taken", "--json"]);
  expect([code, JSON.parse(stderr)]).toEqual([1, { error: { code: "refused", message, next } }]);
});

it("reports a disk that is full before the image comes", async () => {
  answers[`${name}.cdx.json`] = "x".repeat(5_000_000);
  const { env, folder: cwd } = machine;
  const ended = await run("sh", ["-c", "ulimit -f 4096; exec kiln download 12"], { env, input: "", cwd });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^kiln: A file cannot be written: file too large \(EFBIG\)\.\n/);
});

it("keeps the documents that it has if the new ones are refused", async () => {
  await machine.kiln(["download", "12"]);
  const provenance = answers[`${name}.intoto.jsonl`];
  answers[`${name}.intoto.jsonl`] = signedProvenance({ [name]: image, ...bills }, newKey());
  const refused = await machine.kiln(["download", "12"]);
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining(`documents are in ${name}.refused.`) });
  expect(readFileSync(stored(`${name}.intoto.jsonl`), "utf8")).toBe(provenance);
  expect(readFileSync(stored(`${name}.refused/${name}.intoto.jsonl`), "utf8")).not.toBe(provenance);
  expect(await machine.kiln(["verify", name])).toMatchObject({ code: 0 });
});

it("keeps a statement that the service no longer has", async () => {
  const file = stored(`${name}.rebuilds.intoto.jsonl`);
  await machine.kiln(["download", "12"]);
  const subject = [{ digest: { sha256: createHash("sha256").update(image).digest("hex") } }];
  const predicate = { result: "same", byOtherAgent: true, metadata: { finishedOn: "2026-11-22T10:00:00Z" } };
  writeFileSync(file, signedStatement({ predicateType: "urn:kiln:rebuild:1", subject, predicate }, key));
  const again = await machine.kiln(["download", "12"]);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("The service no longer has") });
  expect(existsSync(file)).toBe(true);
});

it("refuses an image that another key signed, before it comes", async () => {
  writeFileSync(stored("other.pem"), newKey().pem);
  const ended = await machine.kiln(["download", "12", "--key", "other.pem"]);
  expect(ended).toMatchObject({ code: 6, stdout: "" });
  expect(ended.stderr).toContain("signed with a key that you do not trust");
  expect([existsSync(stored(name)), store.ranges]).toEqual([false, []]);
});

it.each([
  ["another build", { id: 11 }, "build 11 (0.0.1, oem), not about build 12 (0.0.1, oem)"],
  ["another version", { version: "0.0.2" }, "build 12 (0.0.2, oem)"],
  ["another type", { imageType: "iso" }, "build 12 (0.0.1, iso)"],
])("refuses the signed image of %s, before it comes", async (_, other, told) => {
  answers[`${name}.intoto.jsonl`] = signedProvenance({ [name]: image, ...bills }, key, other);

  const ended = await machine.kiln(["download", "12"]);

  expect(ended).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining(told) });
  expect([existsSync(stored(name)), store.ranges]).toEqual([false, []]);
});

it("refuses a build that was not asked for", async () => {
  service.answers["/api/v2/user/builds/13"] = service.answers["/api/v2/user/builds/12"] ?? {};

  const ended = await machine.kiln(["download", "13"]);

  expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining("not about build 13") });
});

it("replaces no other file of that name, unless it must", async () => {
  writeFileSync(stored(name), "mine");
  const refused = await machine.kiln(["download", "12"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("already exists, and is a different file"),
  });
  expect(readFileSync(stored(name), "utf8")).toBe("mine");
  expect(await machine.kiln(["download", "12", "--force"])).toMatchObject({ code: 0 });
  expect(readFileSync(stored(name)).equals(image)).toBe(true);
});

it.each([".bashrc", "%2ebashrc", "..%2f.ssh"])("writes no file called %s", async (hidden) => {
  const checksum = { sha1: "" };
  const build = { id: 12, state: "finished", expired: false, checksum, download_url: `${store.url}/${hidden}` };
  service.answers["/api/v2/user/builds/12"] = { build };
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 6, stdout: "" });
});
