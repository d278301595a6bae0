import { createHash, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isSignedBy, readCheckpoint, signCheckpoint, type Checkpoint } from "#lib/attest/log/checkpoint";
import { cosignatureLine, cosignersOf, validLines } from "#lib/attest/log/cosignature";
import { readKey, writeKey, type NamedKey } from "#lib/attest/log/note";
import { nodesInTiles } from "#lib/attest/log/tiles";
import { consistencyProof } from "#lib/attest/log/tree";
import { judge, readSubmission, writeSubmission, type Objection } from "#lib/attest/log/witness";
import { openSigningKey, publicKeyFrom } from "#lib/attest/signing-key";
import { Chance } from "../../../scripts/chance.ts";
import { PlainLog } from "../../attest/log/plain-log.ts";

const origin = "kiln.example.org/log";
const rawOf = (key: KeyObject) => Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");
const { privateKey: logKey } = generateKeyPairSync("ed25519");
const { privateKey } = generateKeyPairSync("ed25519");
const witness: NamedKey = { name: "witness.example/w1", type: "witness", key: publicKeyFrom(rawOf(privateKey)) };
const theLog: NamedKey = { name: origin, type: "log", key: publicKeyFrom(rawOf(logKey)) };
const signer = await openSigningKey(logKey.export({ type: "pkcs8", format: "der" }).toString("base64"));

const noteOf = async (log: PlainLog, of = origin) => await signCheckpoint({ origin: of, ...log.head }, signer);
const logOf = (entries: readonly string[]) => {
  const log = new PlainLog();
  log.grow(entries);
  return log;
};
const proofIn = async (log: PlainLog, old: number) =>
  await consistencyProof(
    Math.min(old, log.entries.length),
    log.entries.length,
    nodesInTiles(log.entries.length, log.read),
  );

/** The witness's answer to the log's own request. Both are sent and read as text. */
async function answerTo(
  log: PlainLog,
  seen: Checkpoint | undefined,
  old = seen?.size ?? 0,
): Promise<Checkpoint | Objection> {
  const text = writeSubmission({ old, proof: await proofIn(log, old), note: await noteOf(log) });
  const submission = readSubmission(text) ?? expect.fail("not a submission");
  return judge(submission, [theLog], () => seen);
}

const headOf = (log: PlainLog): Checkpoint => ({ origin, ...log.head });

describe("a witness", () => {
  it("finds 100 of 100 forked or rewound logs, and accepts 100 of 100 that grew", async () => {
    let found = 0;
    let accepted = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      const chance = new Chance(seed);
      const entries = Array.from({ length: chance.between(1, 300) }, (_, at) => `${seed}-${at}`);
      const more = Array.from({ length: chance.between(0, 300) }, (_, at) => `${seed}-more-${at}`);
      const seen = headOf(logOf(entries));
      if ("root" in (await answerTo(logOf([...entries, ...more]), seen))) accepted += 1;
      const at = chance.between(0, entries.length - 1);
      const forked = () => [...entries.with(at, "another"), ...more];
      const rewound = () => entries.slice(0, at);
      const rewoundAndGrown = () => [...entries.slice(0, at), ...more.slice(1)];
      const other = logOf((chance.oneOf([forked, rewound, rewoundAndGrown]) ?? forked)());
      if ("why" in (await answerTo(other, seen))) found += 1;
    }
    expect({ found, accepted }).toEqual({ found: 100, accepted: 100 });
  });

  it("accepts the first checkpoint of a log that it knows", async () => {
    expect(await answerTo(logOf(["a", "b"]), undefined)).toMatchObject({ origin, size: 2 });
  });

  it("answers as the protocol says", async () => {
    const log = logOf(["a", "b", "c"]);
    const seen = headOf(logOf(["a", "b"]));
    const statusOf = async (old: number) => {
      const answer = await answerTo(log, seen, old);
      return "why" in answer ? [answer.status, answer.size] : answer.size;
    };
    expect(await statusOf(2)).toBe(3);
    expect(await statusOf(0)).toEqual([409, 2]);
    expect(await statusOf(4)).toEqual([400, undefined]);
    const note = await noteOf(log);
    const proof = await proofIn(log, 2);
    const ask = (given: string, hashes = proof) =>
      judge({ old: 2, proof: hashes, note: given }, [theLog, witness], () => seen);
    expect(ask(await noteOf(log, "another/log"))).toMatchObject({ status: 404 });
    expect(ask(note.replace("\n3\n", "\n4\n"))).toMatchObject({ status: 403 });
    expect(ask(note, [])).toMatchObject({ status: 422 });
    expect(ask(note, proof.toReversed().concat(Buffer.alloc(32)))).toMatchObject({ status: 422 });
    expect(ask("no checkpoint")).toMatchObject({ status: 400 });
  });

  it("cosigns the same checkpoint again, but no other one of the same size", async () => {
    const log = logOf(["a", "b"]);
    expect(await answerTo(log, headOf(log))).toMatchObject({ size: 2 });
    expect(await answerTo(logOf(["a", "c"]), headOf(log))).toMatchObject({ status: 422 });
  });
});

describe("a submission", () => {
  const line = `${"A".repeat(43)}=\n`;

  it("is read as it was written", () => {
    const one = { old: 5, proof: [Buffer.alloc(32), Buffer.alloc(32, 7)], note: "a\n\nb\n" };
    expect(readSubmission(writeSubmission(one))).toEqual(one);
  });

  it("is not read if it has the wrong form", () => {
    const wrong = ["", "old 1", "old 01\n\nnote", "old 1\nAAAA\n\nnote", `old 1\n${line.repeat(64)}\nnote`];
    for (const text of wrong) expect(readSubmission(text)).toBeUndefined();
  });
});

describe("a cosignature", () => {
  it("is what the definition says", async () => {
    const note = await noteOf(logOf(["a"]));
    const line = cosignatureLine(note, {
      witness,
      sign: (message) => sign(null, message, privateKey),
      at: 1_700_000_000,
    });
    const [, name = "", base64 = ""] = /^— (\S+) (\S+)\n$/.exec(line) ?? [];
    const bytes = Buffer.from(base64, "base64");
    const id = createHash("sha256")
      .update(Buffer.concat([Buffer.from("witness.example/w1\n"), Buffer.of(4), rawOf(privateKey)]))
      .digest();
    const message = `cosignature/v1\ntime 1700000000\n${note.slice(0, note.indexOf("\n\n") + 1)}`;
    expect(name).toBe("witness.example/w1");
    expect(bytes.subarray(0, 4)).toEqual(id.subarray(0, 4));
    expect(bytes.readBigUInt64BE(4)).toBe(1_700_000_000n);
    expect(verify(null, Buffer.from(message), createPublicKey(privateKey), bytes.subarray(12))).toBe(true);
  });

  it("is found below the signature of the log, and counts for no other checkpoint, key or name", async () => {
    const note = await noteOf(logOf(["a"]));
    const line = cosignatureLine(note, { witness, sign: (message) => sign(null, message, privateKey), at: 7 });
    const other = { ...witness, key: theLog.key };
    expect(cosignersOf(note + line, [witness, other])).toEqual([witness]);
    expect(isSignedBy(note + line, [theLog.key])).toBe(true);
    expect(readCheckpoint(note + line)).toEqual(headOf(logOf(["a"])));
    expect(cosignersOf((await noteOf(logOf(["b"]))) + line, [witness])).toEqual([]);
    expect(cosignersOf(note + line, [{ ...witness, name: "another" }])).toEqual([]);
    expect(cosignersOf(note + line.replace("w1", "w2"), [witness])).toEqual([]);
    expect(validLines(note, witness, `nonsense\n${line}${line.replace("w1", "w2")}`)).toBe(line);
  });
});

describe("a key in the form of signed notes", () => {
  it("is read as it was written, with its kind", () => {
    for (const named of [witness, theLog]) expect(readKey(writeKey(named))).toEqual(named);
  });

  it("is not read if a part of it is wrong", () => {
    const text = writeKey(witness);
    for (const wrong of ["", text.slice(1), text.replace("w1", "w2"), text.replace(/.{4}$/, "")])
      expect(readKey(wrong)).toBeUndefined();
  });
});
