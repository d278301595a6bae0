import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signCheckpoint } from "../../src/lib/attest/log/checkpoint.ts";
import { entryOf, writeProof } from "../../src/lib/attest/log/proof.ts";
import { nodesInTiles } from "../../src/lib/attest/log/tiles.ts";
import { inclusionProof } from "../../src/lib/attest/log/tree.ts";
import { openSigningKey } from "../../src/lib/attest/signing-key.ts";
import { PlainLog } from "../../test/attest/log/plain-log.ts";
import { newMachine, type Machine } from "./support/machine.ts";
import {
  busy,
  busyOnce,
  newKey,
  publishedKeys,
  signedInto,
  signedProvenance,
  standIn,
  type SigningKey,
  type StandIn,
} from "./support/service.ts";

const key = newKey();
const name = "First.x86_64-0.0.1.oem.tar.gz";
const image = "an image";
const bills = { [`${name}.spdx.json`]: "{}", [`${name}.cdx.json`]: "{}" };
const provenance = signedProvenance({ [name]: image, ...bills }, key);
const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const statement = sha256(Buffer.from(JSON.parse(provenance).payload, "base64"));
const entry = entryOf({ image: sha256(image), statement });

let machine: Machine;
let service: StandIn;

const at = (file: string) => join(machine.folder, file);
const kiln = async (...args: string[]) => await machine.kiln(args);
const verify = async (...more: string[]) => await kiln("verify", name, ...more);
const check = async (...more: string[]) => await kiln("log", "check", ...more);
const download = async () => await kiln("download", "12");
const send = (content: string | Uint8Array) => (_: unknown, response: ServerResponse) => void response.end(content);

const noteOf = async (log: PlainLog, by: SigningKey = key, origin = "kiln.test/log") => {
  const opened = await openSigningKey(by.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"));
  return await signCheckpoint({ origin, ...log.head }, opened);
};

/** A log in which this image is between others. */
function logOf(before: number, after: number, change = ""): PlainLog {
  const log = new PlainLog();
  const other = (at: number) => entryOf({ image: sha256(`${at}${change}`), statement: sha256("") });
  log.grow([...Array.from({ length: before }, (_, nth) => other(nth)), entry]);
  log.grow(Array.from({ length: after }, (_, nth) => other(before + nth)));
  return log;
}

const proofIn = async (log: PlainLog, position: number, note?: string) =>
  writeProof({
    position,
    hashes: await inclusionProof(position, log.entries.length, nodesInTiles(log.entries.length, log.read)),
    note: note ?? (await noteOf(log)),
  });

/** From now on, the service serves this log and no file of an earlier one. */
async function serve(log: PlainLog, note?: string): Promise<void> {
  for (const path of Object.keys(service.answers).filter((one) => one.startsWith("/log/")))
    delete service.answers[path];
  service.answers["/log/checkpoint"] = send(note ?? (await noteOf(log)));
  for (const [path, bytes] of log.files) service.answers[`/log/${path}`] = send(bytes);
}

beforeEach(async () => {
  machine = newMachine();
  service = await standIn(signedInto(key));
  const build = {
    id: 12,
    version: "0.0.1",
    image_type: "oem",
    state: "finished",
    expired: false,
    checksum: { sha1: createHash("sha1").update(image).digest("hex") },
    download_url: `${service.url}/files/${name}`,
  };
  service.answers["/api/v2/user/builds/12"] = { build };
  const files = { [name]: image, ...bills, [`${name}.intoto.jsonl`]: provenance };
  for (const [file, content] of Object.entries(files)) {
    service.answers[`/files/${file}`] = send(content);
    writeFileSync(at(file), content);
  }
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "secret\n" });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

describe("kiln verify with a proof of the public log", () => {
  it("accepts the proof of an entry, and asks no service", async () => {
    writeFileSync(at(`${name}.tlog-proof`), await proofIn(logOf(300, 5), 300));
    const before = service.requests.length;
    const ended = await verify("--logged");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/Public log +entry 300 of kiln.test\/log/);
    expect(service.requests).toHaveLength(before);
    const { verified } = JSON.parse((await verify("--json")).stdout);
    expect(verified.log).toEqual({ log: "kiln.test/log", position: 300, size: 306 });
  });

  it("accepts an image without a proof, unless one is asked for", async () => {
    const ended = await verify();
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain("no proof came with the image");
    expect(await verify("--logged")).toMatchObject({ code: 6, stdout: "" });
  });

  it("refuses the proof of another image, a damaged one, and one that another key signed", async () => {
    const log = logOf(3, 3);
    const wrong = [
      [await proofIn(log, 2), "does not prove that the public log has this image"],
      ["c2sp.org/tlog-proof@v1\n", "is damaged"],
      [await proofIn(log, 3, await noteOf(log, newKey())), "not signed with a key that you trust"],
      [(await proofIn(log, 3)).replace("\n7\n", "\n8\n"), "not signed with a key that you trust"],
    ] as const;
    for (const [proof, complaint] of wrong) {
      writeFileSync(at(`${name}.tlog-proof`), proof);
      expect(await verify()).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining(complaint) });
    }
  });

  it("refuses another history of the size that this machine has seen, without the service", async () => {
    await serve(logOf(3, 3));
    expect(await kiln("log", "check")).toMatchObject({ code: 0 });
    writeFileSync(at(`${name}.tlog-proof`), await proofIn(logOf(3, 3, "another"), 3));
    expect(await verify()).toMatchObject({ code: 6, stderr: expect.stringContaining("a different history") });
  });
});

describe("kiln log check", () => {
  it("accepts a log that has grown", async () => {
    await serve(logOf(3, 0));
    expect((await check()).stdout).toContain("The log kiln.test/log has 4 entries.");
    await serve(logOf(3, 400));
    expect((await check()).stdout).toContain("It begins with the 4 entries that this machine has seen.");
    const { size, kept, checkpoint } = JSON.parse((await check("--json")).stdout);
    expect([size, kept, checkpoint]).toEqual([404, 404, await noteOf(logOf(3, 400))]);
  });

  it.each([
    ["forked", () => logOf(3, 10, "another"), "has been forked"],
    ["forked without a new entry", () => logOf(3, 2, "another"), "has been forked"],
    ["rewound", () => logOf(3, 1), "has been rewound: it had 6 entries, and has 5 now"],
  ])("finds that it was %s, also in the next check", async (_, log, complaint) => {
    await serve(logOf(3, 2));
    await check();
    await serve(log());
    for (let time = 0; time < 2; time += 1)
      expect(await check()).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining(complaint) });
    await serve(logOf(3, 3));
    expect(await check()).toMatchObject({ code: 0 });
  });

  it("finds it with a checkpoint in a file, on a machine that has seen nothing", async () => {
    writeFileSync(at("kept"), `${await noteOf(logOf(3, 2))}\n`); // jq -r ends its output with a line break
    await serve(logOf(3, 4, "another"));
    expect(await check("--since", "kept")).toMatchObject({ code: 6, stderr: expect.stringContaining("forked") });
    await serve(logOf(3, 4));
    expect(await check("--since", "kept")).toMatchObject({ code: 0 });
  });

  it("refuses a log under another name, and a checkpoint that another key signed", async () => {
    const log = logOf(3, 2);
    await serve(log);
    await check();
    await serve(log, await noteOf(log, key, "other.test/log"));
    expect(await check()).toMatchObject({ code: 6, stderr: expect.stringContaining("is other.test/log now") });
    await serve(log, await noteOf(log, newKey()));
    expect(await check()).toMatchObject({ code: 6, stderr: expect.stringContaining("not signed with a key") });
  });

  it("says that a service has no log yet", async () => {
    expect(await check()).toMatchObject({ code: 6, stderr: expect.stringContaining("has no checkpoint") });
  });

  it("accepts a log whose older checkpoint a key signed that is no longer pinned", async () => {
    await serve(logOf(3, 2));
    await check();
    const other = newKey();
    service.answers["/.well-known/kiln-attestation-keys.json"] = publishedKeys(other);
    await machine.kiln(["login", service.url, "--account", "tux", "--trust-key", other.kid], { input: "secret\n" });
    await serve(logOf(3, 4), await noteOf(logOf(3, 4), other));
    expect(await check()).toMatchObject({ code: 0 });
  });
});

describe("kiln download", () => {
  const proof = `/files/${name}.tlog-proof`;
  beforeEach(() => rmSync(at(name)));

  it("brings the proof of a published image, and keeps the checkpoint", async () => {
    await serve(logOf(3, 2));
    service.answers[proof] = send(await proofIn(logOf(3, 2), 3));
    expect(await download()).toMatchObject({ code: 0, stdout: expect.stringContaining("entry 3 of kiln.test/log") });
    expect(await kiln("verify", name, "--logged")).toMatchObject({ code: 0 });
    await serve(logOf(3, 1));
    expect(await kiln("log", "check")).toMatchObject({ code: 6, stderr: expect.stringContaining("rewound") });
  });

  it("waits for a busy service, and takes nothing for absent", async () => {
    await serve(logOf(3, 2));
    service.answers[proof] = send(await proofIn(logOf(3, 2), 3));
    busyOnce(service.answers, [proof, `/files/${name}`, `/files/${name}.intoto.jsonl`, "/log/checkpoint"]);
    expect(await download()).toMatchObject({ code: 0, stdout: expect.stringContaining("entry 3 of kiln.test/log") });
    expect(existsSync(at(`${name}.tlog-proof`))).toBe(true);
  });

  it.each([".intoto.jsonl", ".tlog-proof"])("keeps what it has if the service stays busy with %s", async (suffix) => {
    await serve(logOf(3, 2));
    writeFileSync(at(`${name}.tlog-proof`), await proofIn(logOf(3, 2), 3));
    service.answers[`/files/${name}${suffix}`] = busy(3600);
    expect(await download()).toMatchObject({ code: 8, stderr: expect.stringContaining("too many requests") });
    expect(existsSync(at(`${name}.tlog-proof`))).toBe(true);
    expect(existsSync(at(name))).toBe(false);
  });

  it("does not take a busy service for one without the image", async () => {
    service.answers[`/files/${name}`] = busy(3600);
    const ended = await download();
    expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining("too many requests") });
    expect(ended.stderr).not.toContain("Build it again");
  });

  it("leaves no image if the log was forked since the last time", async () => {
    await serve(logOf(3, 2));
    await kiln("log", "check");
    const fork = logOf(3, 5, "another");
    await serve(fork);
    service.answers[proof] = send(await proofIn(fork, 3));
    expect(await download()).toMatchObject({ code: 6, stderr: expect.stringContaining("has been forked") });
    expect(existsSync(at(name))).toBe(false);
  });

  it("does not take the proof of an earlier download for that of an image that is not published", async () => {
    writeFileSync(at(`${name}.tlog-proof`), "old");
    writeFileSync(at(`${name}.intoto.jsonl`), "of another build");
    expect(await download()).toMatchObject({ code: 0 });
    expect(existsSync(at(`${name}.tlog-proof`))).toBe(false);
    expect(readFileSync(at(name), "utf8")).toBe(image);
  });
});
