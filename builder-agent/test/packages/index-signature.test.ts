import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { FrozenKey } from "../../src/contract.ts";
import { isSignedIndex } from "../../src/packages/index-signature.ts";
import { revokedKeys } from "../../src/packages/package-signatures.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { openSigning, type Signing } from "./signing.ts";

const index = "<repomd/>";
let signing: Signing;
let owner: FrozenKey;
let stranger: FrozenKey;
beforeAll(() => {
  signing = openSigning();
  [owner, stranger] = [signing.makeKey("owner"), signing.makeKey("stranger")];
});
afterAll(() => signing.close());

async function isSigned(keys: FrozenKey[], signature: string | Buffer, bytes = index): Promise<boolean> {
  await using place = await temporaryDir();
  const dir = join(place.path, "signature");
  const signed = { index: Buffer.from(bytes), signature: Buffer.from(signature), keys };
  const answer = await isSignedIndex(signed, dir, new AbortController().signal);
  expect(existsSync(dir)).toBe(false);
  return answer;
}

async function isSignedInside(text: string, keys: FrozenKey[]): Promise<boolean> {
  await using place = await temporaryDir();
  const signal = new AbortController().signal;
  return await isSignedIndex({ index: Buffer.from(text), keys }, join(place.path, "signature"), signal);
}

describe("an index", () => {
  it("is signed by a key of the repository, in armour or binary", async () => {
    expect(await isSigned([owner], signing.sign(index, owner))).toBe(true);
    expect(await isSigned([stranger, owner], signing.signPlain(index, owner))).toBe(true);
  });

  it("is not signed by an invalid or missing signature", async () => {
    expect(await isSigned([owner], "rubbish")).toBe(false);
    expect(await isSigned([owner], "")).toBe(false);
    expect(await isSigned([], signing.sign(index, owner))).toBe(false);
  });

  it("is not called unsigned if gpgv cannot read it", async () => {
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    await expect(isSigned([owner], signing.sign(index, owner))).rejects.toThrow("gpgv could not check a signature");
  });

  it("does not match the signature of other bytes", async () => {
    expect(await isSigned([owner], signing.sign(index, owner), `${index}\n`)).toBe(false);
  });

  it("may contain its signature", async () => {
    const signed = signing.clearSign("Suite: bookworm\n", owner);
    expect(await isSignedInside(signed, [stranger, owner])).toBe(true);
    expect(await isSignedInside(signed, [stranger])).toBe(false);
    expect(await isSignedInside(signed.replace("bookworm", "trixie"), [owner])).toBe(false);
    expect(await isSignedInside("Suite: bookworm\n", [owner])).toBe(false);
  });

  it("accepts only the announced keys, not others in their armour", async () => {
    const both = { ...owner, armour: signing.exported(owner, stranger) };
    expect(await isSigned([both], signing.sign(index, owner))).toBe(true);
    expect(await isSigned([both], signing.sign(index, stranger))).toBe(false);
  });

  it("may have several signatures, one of which must be valid", async () => {
    const [good, foreign] = [signing.signPlain(index, owner), signing.signPlain(index, stranger)];
    const wrong = signing.signPlain("<else/>", owner);
    expect(await isSigned([owner], Buffer.concat([foreign, good]))).toBe(true);
    expect(await isSigned([owner], Buffer.concat([good, foreign]))).toBe(true);
    expect(await isSigned([owner], Buffer.concat([wrong, foreign]))).toBe(false);
  });

  it("is not signed by a key revoked before or after", async () => {
    const key = signing.makeKey("leaver");
    const [signature, plain] = [signing.sign(index, key), signing.signPlain(index, key)];
    expect(await isSigned([key], signature)).toBe(true);
    const revoked = signing.revoked(key);
    expect(await isSigned([revoked], signature)).toBe(false);
    expect(await isSigned([revoked, owner], signing.sign(index, owner))).toBe(true);
    // The valid signature before it is from a key that was not announced.
    const bundled = { ...revoked, armour: signing.exported(stranger, key) };
    const signatures = [signing.signPlain(index, stranger), plain];
    expect(await isSigned([bundled], Buffer.concat(signatures))).toBe(false);
  });

  it("is not signed by a revoked subkey, but by its key", async () => {
    const key = signing.makeKey("careful");
    const byKey = signing.sign(index, key);
    const whole = signing.addSubkey(key);
    const bySubkey = signing.sign(index, key);
    expect(await isSigned([whole], bySubkey)).toBe(true);
    const less = signing.subkeyRevoked(key);
    expect(await isSigned([less], bySubkey)).toBe(false);
    expect(await isSigned([less], byKey)).toBe(true);
  });
});

describe("revoked keys", () => {
  it("are those with a revocation, and revoked subkeys", async () => {
    const key = signing.addSubkey(signing.makeKey("first"));
    expect(await revokedIn({ key, owner })).toEqual([]);
    const [subkey, ...more] = await revokedIn({ key: signing.subkeyRevoked(key), owner });
    expect([subkey?.length, more]).toEqual([16, []]);
    expect(key.fingerprint.endsWith(subkey ?? "")).toBe(false);
    const all = await revokedIn({ key: signing.revoked(key), owner });
    expect(all.toSorted()).toEqual([subkey, key.fingerprint.slice(-16)].toSorted());
  });
});

async function revokedIn(keys: Record<string, FrozenKey>): Promise<string[]> {
  await using place = await temporaryDir();
  for (const [name, { armour }] of Object.entries(keys)) writeFileSync(join(place.path, `${name}.key`), armour);
  chmodSync(place.path, 0o755);
  return [...(await revokedKeys(place.path, new AbortController().signal))];
}
