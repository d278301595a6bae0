import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eachHash, readBlocks, type Blocks } from "../../src/lib/delta/blocks.ts";
import { deltaHead, lackingBlocks } from "../../src/lib/delta/format.ts";
import { newMachine, type Machine } from "./support/machine.ts";
import { newKey, signedInto, signedProvenance, standIn, type StandIn } from "./support/service.ts";

const key = newKey();
const blockBytes = 4096;
const folderOf = (version: string) => `First.x86_64-${version}.oem`;
const imageOf = (version: string) => `${folderOf(version)}.tar.gz`;
const diskOf = (version: string) => `${folderOf(version)}/${folderOf(version)}.raw`;
const [earlier, newer] = ["0.0.1", "0.0.2"];

const block = () => randomBytes(blockBytes);
const same = Array.from({ length: 700 }, block);
const zeros = Buffer.alloc(300 * blockBytes);
const disks: Record<string, Buffer> = {
  [earlier]: Buffer.concat([...same, zeros, block()]),
  // Blocks at other positions, new blocks between them, and an end that is not a whole block.
  [newer]: Buffer.concat([
    block(),
    ...same.slice(350),
    zeros,
    block(),
    ...same.slice(0, 350),
    block(),
    randomBytes(512),
  ]),
};

let machine: Machine;
let service: StandIn;
let store: Server;
/** By path, without the slash. */
let answers: Record<string, string | Buffer>;
let asked: string[];
/** The list of the service, newest first. */
let builds: object[];

/** Packs a disk as the agent does. */
function pack(version: string): Buffer {
  const work = join(machine.folder, "pack");
  mkdirSync(join(work, folderOf(version)), { recursive: true });
  writeFileSync(join(work, diskOf(version)), disks[version] ?? "");
  const image = execFileSync("tar", ["-C", work, "--sparse", "--format=gnu", "-cz", folderOf(version)], {
    maxBuffer: 64 * 1024 ** 2,
  });
  rmSync(work, { recursive: true });
  return image;
}

async function read(version: string): Promise<Blocks> {
  const file = join(machine.folder, "read.raw");
  writeFileSync(file, disks[version] ?? "");
  const blocks = await readBlocks(file, blockBytes);
  rmSync(file);
  return blocks;
}

/** For incompressible blocks, the best compression takes a minute. */
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** The delta as the agent makes it. */
async function deltaFrom(from: string, to: string): Promise<Buffer> {
  const [old, made] = [await read(from), await read(to)];
  const lacking = [...lackingBlocks(made.hashes, new Set(eachHash(old.hashes)))];
  const literal = lacking.map((number) => disks[to]?.subarray(number * blockBytes, (number + 1) * blockBytes) ?? "");
  const compressed = brotliCompressSync(Buffer.concat(literal as Buffer[]), quick);
  return Buffer.concat([await deltaHead(made, old.sha256), compressed]);
}

function addVersion(id: number, version: string): void {
  const name = imageOf(version);
  const image = pack(version);
  const bills = { [`${name}.spdx.json`]: "{}", [`${name}.cdx.json`]: "{}" };
  const byproducts = { [diskOf(version)]: disks[version] ?? "" };
  const provenance = signedProvenance({ [name]: image, ...bills }, key, { id, version, byproducts });
  Object.assign(answers, { [name]: image, ...bills, [`${name}.intoto.jsonl`]: provenance });
  const { port } = store.address() as AddressInfo;
  const sha1 = createHash("sha1").update(image).digest("hex");
  const url = { download_url: `http://127.0.0.1:${port}/${name}` };
  builds.unshift({ id, version, image_type: "oem", state: "finished", expired: false, ...url });
  service.answers["/api/v2/user/builds"] = { builds };
  const build = { id, version, image_type: "oem", state: "finished", expired: false, checksum: { sha1 }, ...url };
  service.answers[`/api/v2/user/builds/${id}`] = { build };
}

beforeEach(async () => {
  machine = newMachine();
  [answers, asked, builds] = [{}, [], []];
  store = createServer((request, response) => {
    const path = request.url?.slice(1) ?? "";
    const content = answers[path];
    asked.push(`${request.headers.range === undefined ? "" : `${request.headers.range} of `}${path}`);
    if (content === undefined) return void response.writeHead(404).end();
    const end = Number(/^bytes=0-(\d+)$/.exec(request.headers.range ?? "")?.[1] ?? content.length);
    const bytes = Buffer.from(content).subarray(0, end + 1);
    const range = { "content-range": `bytes 0-${end}/${content.length}` };
    const headers = { "content-length": bytes.length, ...(end < content.length && range) };
    response.writeHead(end < content.length ? 206 : 200, headers).end(bytes);
  });
  await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
  service = await standIn(signedInto(key));
  addVersion(11, earlier);
  addVersion(12, newer);
  answers[`${imageOf(newer)}.delta`] = await deltaFrom(earlier, newer);
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
});
afterEach(async () => {
  store.closeAllConnections();
  await Promise.all([service[Symbol.asyncDispose](), new Promise((resolve) => store.close(resolve))]);
  machine[Symbol.dispose]();
});

const at = (file: string) => join(machine.folder, file);
const isNewDisk = () => readFileSync(at(diskOf(newer))).equals(disks[newer] ?? Buffer.alloc(0));
const leftovers = () =>
  readdirSync(machine.folder, { recursive: true }).filter((file) => /\.part$|\.kiln-/.test(`${file}`));

it("makes the disk of a new image from the previous image in the folder", async () => {
  await machine.kiln(["download", "11"]);
  const ended = await machine.kiln(["download", "12", "--json"]);

  expect(ended).toMatchObject({ code: 0 });
  const downloaded = answers[`${imageOf(newer)}.delta`]?.length;
  expect(JSON.parse(ended.stdout)).toMatchObject({
    file: diskOf(newer),
    made: { from: imageOf(earlier), downloaded_bytes: downloaded },
    verified: { version: newer },
  });
  expect([isNewDisk(), existsSync(at(imageOf(newer))), leftovers()]).toEqual([true, false, []]);
  expect(asked).not.toContain(imageOf(newer));
  // Holes stay holes.
  expect(statSync(at(diskOf(newer))).blocks * 512).toBeLessThan((disks[newer]?.length ?? 0) - zeros.length / 2);
  expect(await machine.kiln(["verify", diskOf(newer)])).toMatchObject({ code: 0 });
});

it("makes it from a disk that was unpacked, and again for the version after", async () => {
  await machine.kiln(["download", "11"]);
  execFileSync("tar", ["-xzf", imageOf(earlier)], { cwd: machine.folder });
  rmSync(at(imageOf(earlier)));
  const { stdout } = await machine.kiln(["download", "12"]);
  expect(stdout).toContain(`The disk was made from ${diskOf(earlier)} and `);
  expect(isNewDisk()).toBe(true);

  disks["0.0.3"] = Buffer.concat([disks[newer] ?? zeros, block()]);
  addVersion(13, "0.0.3");
  answers[`${imageOf("0.0.3")}.delta`] = await deltaFrom(newer, "0.0.3");
  expect((await machine.kiln(["download", "13"])).stdout).toContain(`The disk was made from ${diskOf(newer)} and `);
  expect(readFileSync(at(diskOf("0.0.3"))).equals(disks["0.0.3"])).toBe(true);
});

/** The third version, and the delta to it. */
async function addThird(...more: Buffer[]): Promise<void> {
  disks["0.0.3"] = Buffer.concat([disks[newer] ?? zeros, block(), ...more]);
  addVersion(13, "0.0.3");
  answers[`${imageOf("0.0.3")}.delta`] = await deltaFrom(newer, "0.0.3");
}
const bytesOf = (...versions: string[]) =>
  versions.reduce((sum, version) => sum + (answers[`${imageOf(version)}.delta`]?.length ?? 0), 0);

it("makes it with two deltas if a version was skipped", async () => {
  await addThird();
  await machine.kiln(["download", "11"]);
  asked = [];
  const ended = await machine.kiln(["download", "13", "--json"]);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    file: diskOf("0.0.3"),
    made: { from: imageOf(earlier), deltas: 2, downloaded_bytes: bytesOf(newer, "0.0.3") },
  });
  expect(readFileSync(at(diskOf("0.0.3"))).equals(disks["0.0.3"] ?? zeros)).toBe(true);
  expect(leftovers()).toEqual([]);
  expect(await machine.kiln(["verify", diskOf("0.0.3")])).toMatchObject({ code: 0 });
});

it.each<[string, () => Promise<void> | void]>([
  ["the deltas have nearly as many bytes", () => addThird(...Array.from({ length: 3200 }, block))],
  [
    "a delta in the middle makes another disk",
    async () => {
      await addThird();
      const delta = Buffer.from(answers[`${imageOf(newer)}.delta`] ?? "");
      answers[`${imageOf(newer)}.delta`] = delta.subarray(0, -blockBytes);
    },
  ],
  [
    "a delta in the middle is missing",
    async () => {
      await addThird();
      delete answers[`${imageOf(newer)}.delta`];
    },
  ],
  [
    "the list of images is another account's",
    async () => {
      await addThird();
      delete service.answers["/api/v2/user/builds"];
    },
  ],
])("downloads the whole image of a version after the next if %s", async (_, spoil) => {
  await spoil();
  await machine.kiln(["download", "11"]);
  const ended = await machine.kiln(["download", "13"]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${imageOf("0.0.3")} is verified.`) });
  expect(leftovers()).toEqual([]);
});

it("makes it from the disk that the user names", async () => {
  writeFileSync(at("my.raw"), disks[earlier] ?? "");
  const ended = await machine.kiln(["download", "12", "--from", "my.raw"]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("made from my.raw") });
  expect(isNewDisk()).toBe(true);
});

it("downloads nothing if the disk is there already", async () => {
  await machine.kiln(["download", "11"]);
  await machine.kiln(["download", "12"]);
  asked = [];
  expect(await machine.kiln(["download", "12"])).toMatchObject({ code: 0 });
  expect(asked.filter((path) => /\.(?:gz|delta)$/.test(path))).toEqual([]);
});

const wholeInstead = async (args: string[] = []) => {
  const ended = await machine.kiln(["download", "12", ...args]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`${imageOf(newer)} is verified.`) });
  expect(readFileSync(at(imageOf(newer))).equals(Buffer.from(answers[imageOf(newer)] ?? ""))).toBe(true);
  expect(leftovers()).toEqual([]);
  return ended.stderr;
};

it.each<[string, () => Promise<void> | void, RegExp | undefined]>([
  ["the folder has no previous image", () => rmSync(at(imageOf(earlier))), undefined],
  ["there is no delta", () => void delete answers[`${imageOf(newer)}.delta`], undefined],
  ["the previous image is damaged", () => writeFileSync(at(imageOf(earlier)), "damaged"), undefined],
  [
    "the delta is damaged",
    () => {
      const delta = Buffer.from(answers[`${imageOf(newer)}.delta`] ?? "");
      answers[`${imageOf(newer)}.delta`] = delta.subarray(0, -blockBytes);
    },
    /0\.0\.1\.oem\.tar\.gz could not be updated: .+\. The whole image is downloaded\./,
  ],
  [
    "the delta makes another disk",
    async () => {
      const header = /^\{.*?\n/;
      const right = Buffer.from(answers[`${imageOf(newer)}.delta`] ?? "").toString("latin1");
      disks["other"] = Buffer.concat([block(), disks[newer]?.subarray(blockBytes) ?? zeros]);
      const wrong = (await deltaFrom(earlier, "other")).toString("latin1");
      const claimed = /"sha256":"[0-9a-f]+"/.exec(header.exec(right)?.[0] ?? "")?.[0] ?? "";
      answers[`${imageOf(newer)}.delta`] = Buffer.from(wrong.replace(/"sha256":"[0-9a-f]+"/, claimed), "latin1");
    },
    /could not be updated: the checksum of the result is wrong\. The whole image is downloaded\./,
  ],
])("downloads the whole image if %s", async (_, spoil, said) => {
  await machine.kiln(["download", "11"]);
  await spoil();
  const stderr = await wholeInstead();
  if (said) expect(stderr).toMatch(said);
  else expect(stderr).not.toContain("could not");
});

it("downloads the whole image if the user wants it, names another disk, or has started the new one", async () => {
  await machine.kiln(["download", "11"]);
  await wholeInstead(["--whole"]);
  rmSync(at(imageOf(newer)));
  writeFileSync(at("other.raw"), block());
  expect(await wholeInstead(["--from", "other.raw"])).toContain("other.raw has no delta that leads to this image");
  rmSync(at(imageOf(newer)));
  mkdirSync(at(folderOf(newer)));
  writeFileSync(at(diskOf(newer)), "started");
  await wholeInstead();
  expect(readFileSync(at(diskOf(newer)), "utf8")).toBe("started");
});
