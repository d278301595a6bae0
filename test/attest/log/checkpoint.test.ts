import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isSignedBy, readCheckpoint, signCheckpoint, verifierKey } from "#lib/attest/log/checkpoint";
import { entryOf, provenCheckpoint, readProof, writeProof } from "#lib/attest/log/proof";
import { nodesInTiles } from "#lib/attest/log/tiles";
import { inclusionProof } from "#lib/attest/log/tree";
import { openSigningKey } from "#lib/attest/signing-key";
import { PlainLog } from "./plain-log.ts";

const newKey = async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  return await openSigningKey(privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"));
};
const key = await newKey();
const origin = "kiln.example.org/log";
const checkpoint = { origin, size: 12, root: Buffer.alloc(32, 7) };
const note = await signCheckpoint(checkpoint, key);

describe("a checkpoint", () => {
  it("is read as it was signed", () => {
    expect(readCheckpoint(note)).toEqual(checkpoint);
    expect(isSignedBy(note, [key])).toBe(true);
  });

  it("is not signed by another key, nor by the same one under another name", async () => {
    expect(isSignedBy(note, [await newKey()])).toBe(false);
    expect(isSignedBy(note.replace(`— ${origin}`, "— other"), [key])).toBe(false);
    expect(isSignedBy(note.replaceAll(origin, "other"), [key])).toBe(false);
  });

  it.each(["12", "BwcH"])("is not signed any more if %s in it is changed", (text) => {
    expect(isSignedBy(note.replace(text, text.split("").toReversed().join("")), [key])).toBe(false);
  });

  it("can have the signatures of others, before and after", async () => {
    const signature = note.slice(note.indexOf("— "));
    const witness = "— witness.example TnKKVAAAAABkGFDL\n";
    expect(isSignedBy(note.replace(signature, witness + signature), [key])).toBe(true);
    expect(isSignedBy(`${note}${witness}`, [await newKey(), key])).toBe(true);
    expect(isSignedBy(note.replace(signature, witness), [key])).toBe(false);
  });

  it.each(["", "\n\n", "a\n1\n", "a b\n1\nAAAA\n\n", note.replace("\n12\n", "\n012\n"), note.replace("BwcH", "")])(
    "is not %j",
    (text) => {
      expect(readCheckpoint(text)).toBeUndefined();
      expect(isSignedBy(text, [key])).toBe(false);
    },
  );

  // The key of the examples of Go's golang.org/x/mod/sumdb/note.
  it("has a key that others read", () => {
    const x = Buffer.from("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "base64").subarray(1).toString("base64url");
    expect(verifierKey("PeterNeumann", { x })).toBe(
      "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    );
  });
});

describe("the proof of an image", () => {
  const entries = Array.from({ length: 270 }, (_, at) =>
    entryOf({ image: at.toString(16).padStart(64, "0"), statement: "f".repeat(64) }),
  );
  const log = new PlainLog();
  log.grow(entries);
  const proofOf = async (position: number) =>
    writeProof({
      position,
      hashes: await inclusionProof(position, log.entries.length, nodesInTiles(log.entries.length, log.read)),
      note: await signCheckpoint({ origin, ...log.head }, key),
    });

  it("shows that the entry is in the log, and no other one", async () => {
    const proof = readProof(await proofOf(200));
    expect(proof && provenCheckpoint(entries[200] ?? "", proof)).toEqual({ origin, ...log.head });
    expect(proof && provenCheckpoint(entries[201] ?? "", proof)).toBeUndefined();
    expect(proof && isSignedBy(proof.note, [key])).toBe(true);
  });

  it("is smaller than 2 KB, even of a log of a billion entries", async () => {
    const hashes = Array.from({ length: 30 }, () => Buffer.alloc(32));
    const large = await signCheckpoint({ origin, size: 2 ** 30, root: Buffer.alloc(32) }, key);
    expect(Buffer.byteLength(writeProof({ position: 2 ** 30 - 1, hashes, note: large }))).toBeLessThan(2048);
    expect(Buffer.byteLength(await proofOf(269))).toBeLessThan(2048);
  });

  it("is not read if its text is damaged", async () => {
    const text = await proofOf(3);
    for (const damaged of [
      "",
      text.slice(1),
      text.replace("index 3", "index -3"),
      text.replace("index 3\n", "index 3\nAA==\n"),
    ])
      expect(readProof(damaged)).toBeUndefined();
  });
});
