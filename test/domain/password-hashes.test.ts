import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { databaseVerifier, scramVerifier, shadowHash } from "#domain/password-hashes";

// The example of RFC 7677 §3.
const salt = "W22ZaJ0SNY7soEsUEjb6gQ==";
const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const messages = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=${salt},i=4096,c=biws,r=${nonce}`;
const proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const serverSignature = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

describe("scramVerifier", () => {
  const verifier = scramVerifier("pencil", Buffer.from(salt, "base64"));
  const [, storedKey = "", serverKey = ""] = /^SCRAM-SHA-256\$4096:[^$]+\$([^:]+):(.+)$/.exec(verifier) ?? [];

  it("keeps a server key that signs as the RFC's server does", () => {
    const signature = createHmac("sha256", Buffer.from(serverKey, "base64")).update(messages).digest("base64");
    expect(signature).toBe(serverSignature);
  });

  it("keeps a stored key that knows the RFC's client by its proof", () => {
    const signature = createHmac("sha256", Buffer.from(storedKey, "base64")).update(messages).digest();
    const clientKey = new Uint8Array(Buffer.from(proof, "base64")).map((byte, at) => byte ^ (signature[at] ?? 0));
    expect(createHash("sha256").update(clientKey).digest("base64")).toBe(storedKey);
  });
});

describe("databaseVerifier", () => {
  it("is what MySQL's manual says of its example", () => {
    expect(databaseVerifier("mysql", "mypass")).toBe("*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4");
  });

  it("has a salt of its own each time, for PostgreSQL", () => {
    const [one, other] = [databaseVerifier("pgsql", "x"), databaseVerifier("pgsql", "x")];
    expect(one).toMatch(/^SCRAM-SHA-256\$4096:[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=$/);
    expect(one).not.toBe(other);
  });
});

describe("shadowHash", () => {
  it("is SHA-512 crypt with a salt of its own", () => {
    expect(shadowHash("x")).toMatch(/^\$6\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{86}$/);
    expect(shadowHash("x")).not.toBe(shadowHash("x"));
  });
});
