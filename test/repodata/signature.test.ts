import { describe, expect, it } from "vitest";
import { createCleartextMessage, createMessage, generateKey, sign } from "openpgp";
import { isSameSigner, signingKeysOf, verifyClearsigned, verifySigner } from "#lib/repodata/signature";
import dsaKey from "../fixtures/repodata/signed/dsa.key?raw";
import dsa from "../fixtures/repodata/signed/dsa.asc?raw";
import repomd from "../fixtures/repodata/signed/repomd.xml?raw";
import sha1 from "../fixtures/repodata/signed/sha1.asc?raw";
import shortKey from "../fixtures/repodata/signed/short-rsa.key?raw";
import short from "../fixtures/repodata/signed/short-rsa.asc?raw";
import stranger from "../fixtures/repodata/signed/stranger.asc?raw";
import strangerKey from "../fixtures/repodata/signed/stranger.key?raw";
import tiny from "../fixtures/repodata/signed/tiny.asc?raw";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { bytesOf, expectFault } from "./support.ts";

const tinyFingerprint = "E7B7D4B6C6D01C53E594CB9496D4DB2024DDEB41";
const strangerFingerprint = "51243536A4A31ED337D8FE284BC4D89C05F0A4E8";
const check = (signed: string, signature: string, key: string) =>
  verifySigner(bytesOf(signed), bytesOf(signature), bytesOf(key));
/** The bytes of an armoured block. */
const binary = (armoured: string) =>
  Uint8Array.from(
    atob(
      armoured
        .split(/\n\s*\n/)[1]
        ?.replace(/\n=[^]*$/, "")
        .replaceAll("\n", "") ?? "",
    ),
    (char) => char.charCodeAt(0),
  );

describe("verifySigner", () => {
  it("returns the signer's fingerprint as gpg prints it", async () => {
    expect(await check(repomd, tiny, tinyKey)).toEqual({
      fingerprint: tinyFingerprint,
      userIds: ["Tiny Linux Signing Key <tiny@example.invalid>"],
      signedAt: 1_795_184_305_000,
    });
  });

  it("reads binary signatures and keys", async () => {
    const signer = await verifySigner(bytesOf(repomd), binary(tiny), binary(tinyKey));
    expect(signer.fingerprint).toBe(tinyFingerprint);
  });

  it("reads up to 16 signatures, and refuses more before it verifies them", async () => {
    const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: "Many" }], format: "object" });
    const keys = bytesOf(publicKey.armor());
    const times = (count: number) => Array.from({ length: count }, () => privateKey);
    const detached = async (count: number) => {
      const message = await createMessage({ text: "a" });
      return verifySigner(
        bytesOf("a"),
        bytesOf(await sign({ message, signingKeys: times(count), detached: true })),
        keys,
      );
    };
    const around = async (count: number) => {
      const message = await createCleartextMessage({ text: "a" });
      const signed = await sign({ message, signingKeys: times(count) });
      return verifyClearsigned(bytesOf(signed), await signingKeysOf(keys));
    };
    expect(await detached(16)).toMatchObject({ userIds: ["Many"] });
    expect(await around(16)).toMatchObject({ signer: { userIds: ["Many"] } });
    await expectFault(detached(17), "bad_signature", /more than 16/);
    await expectFault(around(17), "bad_signature", /more than 16/);
  });

  it("finds the key among several in one file", async () => {
    expect((await check(repomd, tiny, strangerKey + tinyKey)).fingerprint).toBe(tinyFingerprint);
    expect((await check(repomd, stranger, strangerKey + tinyKey)).fingerprint).toBe(strangerFingerprint);
  });

  it.each([
    ["SHA-1", sha1, strangerKey, "sha1"],
    ["DSA", dsa, dsaKey, "dsa"],
    ["1024-bit RSA", short, shortKey, "short_rsa"],
  ])("accepts a signature by %s and reports that it is weak", async (_, signature, key, weakness) => {
    expect(await check(repomd, signature, key)).toMatchObject({ weakness });
  });

  it.each([
    ["a changed file", repomd.replace("10310", "10311"), tiny, tinyKey],
    ["a changed file under a weak signature", `${repomd} `, sha1, strangerKey],
    ["a changed file under a DSA signature", `${repomd} `, dsa, dsaKey],
    ["a signature by another key", repomd, stranger, tinyKey],
    ["a signature that is a page", repomd, "<html>404</html>", tinyKey],
    ["a cut off signature", repomd, tiny.slice(0, 300), tinyKey],
    ["an empty signature", repomd, "", tinyKey],
    ["a key that is a page", repomd, tiny, "<html>404</html>"],
    ["an armoured block that is not a key", repomd, tiny, tiny],
    ["an endless signature", repomd, "x".repeat(70_000), tinyKey],
    ["an endless key", repomd, tiny, "x".repeat(300_000)],
  ])("refuses %s", async (_, signed, signature, key) => {
    await expectFault(check(signed, signature, key), "bad_signature");
  });
});

describe("isSameSigner", () => {
  const signer = { fingerprint: tinyFingerprint, userIds: [], signedAt: 0 };
  it.each([
    ["allows an unsigned repository to stay unsigned", undefined, undefined, true],
    ["accepts a first signature", undefined, signer, true],
    ["accepts the known key", tinyFingerprint, signer, true],
    ["refuses another key", strangerFingerprint, signer, false],
    ["refuses a missing signature", tinyFingerprint, undefined, false],
  ])("%s", (_, known, now, same) => {
    expect(isSameSigner(known, now)).toBe(same);
  });
});
