import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newMachine, type Machine } from "./support/machine.ts";
import {
  newKey,
  publishedKeys,
  signedInto,
  signedProvenance,
  signedStatement,
  standIn,
  type StandIn,
} from "./support/service.ts";

const key = newKey();
const name = "First.x86_64-0.0.1.oem.tar.gz";
const files = { [name]: "an image", [`${name}.spdx.json`]: '{"spdx":1}', [`${name}.cdx.json`]: '{"cdx":1}' };

let machine: Machine;
let service: StandIn;

const login = async (...more: string[]) =>
  await machine.kiln(["login", service.url, "--account", "tux", ...more], { input: "secret\n" });
const at = (file: string) => join(machine.folder, file);
const verify = async (...more: string[]) => await machine.kiln(["verify", name, ...more]);

beforeEach(async () => {
  machine = newMachine();
  service = await standIn(signedInto(key));
  for (const [file, content] of Object.entries(files)) writeFileSync(at(file), content);
  writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, key));
  await login();
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

/** The service's statement about a rebuild of an image. */
const rebuildOf = (result: "same" | "differs", byOtherAgent: boolean, image = files[name]) => ({
  predicateType: "urn:kiln:rebuild:1",
  subject: [{ name, digest: { sha256: createHash("sha256").update(image).digest("hex") } }],
  predicate: { result, byOtherAgent, metadata: { finishedOn: "2026-11-23T10:00:00Z" } },
});
const putRebuilds = (...lines: string[]) => writeFileSync(at(`${name}.rebuilds.intoto.jsonl`), lines.join(""));

describe("kiln verify", () => {
  it("accepts what the pinned key signed, and asks no service", async () => {
    const before = service.requests.length;
    const ended = await verify();
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`${name} is verified.`);
    expect(ended.stdout).toContain(`${key.kid}, pinned for ${service.url}`);
    expect(service.requests).toHaveLength(before);
  });

  it.each([
    [{ isolation: "vm" }, "a separate guest, from nothing"],
    [
      { isolation: "none", startedFrom: { kind: "packages", key: "a".repeat(64) } },
      "no guest, as root on the builder's host, from the packages of an earlier build",
    ],
    [{}, "the provenance does not say"],
  ])("shows where the image was built, and from what: %o", async (conditions, shown) => {
    writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, key, { conditions }));
    expect((await verify()).stdout).toMatch(new RegExp(`Built in +${shown}\n`));
  });

  it.each(Object.keys(files))("refuses %s with a changed byte", async (file) => {
    writeFileSync(at(file), readFileSync(at(file), "utf8").replace(/.$/, "#"));
    const ended = await verify();
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toContain(`${file} is not what was built`);
  });

  describe("with a disk that was unpacked from the image", () => {
    const stem = name.replace(".tar.gz", "");
    const disk = `${stem}/${stem}.raw`;
    beforeEach(() => {
      mkdirSync(at(stem));
      writeFileSync(at(disk), "a disk");
      writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, key, { byproducts: { [disk]: "a disk" } }));
    });

    it("accepts it, in its folder and next to the provenance, without the image", async () => {
      rmSync(at(name));
      expect(await machine.kiln(["verify", disk])).toMatchObject({ code: 0, stderr: "" });
      renameSync(at(disk), at(`${stem}.raw`));
      expect(await machine.kiln(["verify", `${stem}.raw`])).toMatchObject({ code: 0, stderr: "" });
    });

    it("refuses it with a changed byte", async () => {
      writeFileSync(at(disk), "b disk");
      expect(await machine.kiln(["verify", disk])).toMatchObject({
        code: 6,
        stdout: "",
        stderr: expect.stringContaining(`${stem}.raw is not what was built`),
      });
    });

    it("refuses it if the provenance has no checksum of a disk of that name", async () => {
      renameSync(at(disk), at(disk.replace(".raw", ".vmdk")));
      const other = await machine.kiln(["verify", disk.replace(".raw", ".vmdk")]);
      expect(other).toMatchObject({ code: 6, stderr: expect.stringContaining(`has no checksum of ${stem}.vmdk`) });
      renameSync(at(disk.replace(".raw", ".vmdk")), at(disk));
      writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, key));
      const older = await machine.kiln(["verify", disk]);
      expect(older).toMatchObject({ code: 6, stderr: expect.stringContaining(`has no checksum of ${stem}.raw`) });
    });
  });

  it("refuses an older version under the name of a newer one", async () => {
    const newer = name.replace("0.0.1", "0.0.2");
    for (const suffix of ["", ".spdx.json", ".cdx.json", ".intoto.jsonl"])
      renameSync(at(name + suffix), at(newer + suffix));

    expect(await machine.kiln(["verify", newer])).toMatchObject({
      code: 6,
      stdout: "",
      stderr: expect.stringContaining(`${newer} has the signed provenance of ${name}.`),
    });
  });

  it("refuses a changed statement", async () => {
    const envelope = JSON.parse(signedProvenance(files, key));
    const other = JSON.parse(signedProvenance({ ...files, [name]: "another image" }, key));
    writeFileSync(at(name), "another image");
    writeFileSync(at(`${name}.intoto.jsonl`), JSON.stringify({ ...envelope, payload: other.payload }));
    expect(await verify()).toMatchObject({ code: 6, stderr: expect.stringContaining("the provenance was changed") });
  });

  it("refuses what the pinned key signed as a document of another type", async () => {
    writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, key, { payloadType: "application/json" }));
    expect(await verify()).toMatchObject({
      code: 6,
      stdout: "",
      stderr: expect.stringContaining("signature is wrong"),
    });
  });

  it("refuses a signature by any other key, although the sender sends that key along", async () => {
    const other = newKey();
    const envelope = JSON.parse(signedProvenance(files, other));
    writeFileSync(at(`${name}.intoto.jsonl`), JSON.stringify({ ...envelope, keys: publishedKeys(other) }));
    const refused = await verify();
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain(`signed with a key that you do not trust: ${other.kid}`);

    writeFileSync(at("other.pem"), other.pem);
    expect(await verify("--key", "other.pem")).toMatchObject({ code: 0 });
  });

  it("refuses another key under the pinned one's id", async () => {
    const { privateKey } = newKey();
    writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(files, { ...key, privateKey }));
    expect(await verify()).toMatchObject({ code: 6, stderr: expect.stringContaining("The signature is wrong") });
  });

  it.each(["", "{}", "null", "[1]", '{"payload":1}'])("refuses the damaged provenance %j", async (text) => {
    writeFileSync(at(`${name}.intoto.jsonl`), text);
    expect(await verify()).toMatchObject({ code: 6, stderr: expect.stringContaining("The provenance is damaged.") });
  });

  it("refuses the provenance of fewer files, or of other ones", async () => {
    const { [`${name}.cdx.json`]: _, ...fewer } = files;
    writeFileSync(at(`${name}.intoto.jsonl`), signedProvenance(fewer, key));
    expect(await verify()).toMatchObject({ code: 6, stderr: expect.stringContaining("is about something else") });
  });
});

describe("statements about rebuilds", () => {
  it("are counted, and must say that another builder made the same bytes", async () => {
    putRebuilds(signedStatement(rebuildOf("differs", true), key), signedStatement(rebuildOf("same", false), key));
    expect((await verify()).stdout).toContain(
      "once with the same bytes, never by another builder; once with other bytes",
    );
    expect(await verify("--rebuilt")).toMatchObject({ code: 6, stdout: "" });

    putRebuilds(signedStatement(rebuildOf("same", true), key));
    expect(await verify("--rebuilt")).toMatchObject({ code: 0 });
  });

  it("are not believed if they are about another image, of another type, or by another key", async () => {
    for (const wrong of [
      signedStatement(rebuildOf("same", true, "another image"), key),
      signedStatement({ ...rebuildOf("same", true), predicateType: "https://slsa.dev/provenance/v1" }, key),
      signedStatement(rebuildOf("same", true), newKey()),
      "{}\n",
    ]) {
      putRebuilds(wrong);
      expect(await verify()).toMatchObject({ code: 6, stdout: "" });
    }
  });
});

describe("kiln login", () => {
  it("refuses a service whose key is not the pinned one, until the user trusts it", async () => {
    const other = newKey();
    service.answers["/.well-known/kiln-attestation-keys.json"] = publishedKeys(other, key);
    const refused = await login();
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain(`signs with the key ${other.kid}, which is not the pinned one`);

    expect(await login("--trust-key", newKey().kid)).toMatchObject({ code: 6 });
    expect(await login("--trust-key", other.kid)).toMatchObject({ code: 0 });
    expect(await verify()).toMatchObject({ code: 0 });
    expect(await login()).toMatchObject({ code: 0 });
  });
});
