import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { databaseVerifiers, saltingOf, scramVerifier, shadowHash } from "#domain/accounts/password-hashes";

// The example of RFC 7677 §3.
const salt = "W22ZaJ0SNY7soEsUEjb6gQ==";
const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const messages = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=${salt},i=4096,c=biws,r=${nonce}`;
const proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const serverSignature = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

describe("scramVerifier", () => {
  const verifier = scramVerifier("pencil", Buffer.from(salt, "base64"));
  const [, storedKey = "", serverKey = ""] = /^SCRAM-SHA-256\$4096:[^$]+\$([^:]+):(.+)$/.exec(verifier) ?? [];

  it("stores a server key that signs as in the RFC's example", () => {
    const signature = createHmac("sha256", Buffer.from(serverKey, "base64")).update(messages).digest("base64");
    expect(signature).toBe(serverSignature);
  });

  it("stores a key that accepts the RFC's client proof", () => {
    const signature = createHmac("sha256", Buffer.from(storedKey, "base64")).update(messages).digest();
    const clientKey = new Uint8Array(Buffer.from(proof, "base64")).map((byte, at) => byte ^ (signature[at] ?? 0));
    expect(createHash("sha256").update(clientKey).digest("base64")).toBe(storedKey);
  });
});

const key = { API_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") };
const salting = saltingOf(key, 1000);

describe("the salt of a password", () => {
  it("is the same only for the same password, user and appliance", () => {
    const salts = [
      salting("tux", "x"),
      salting("tux", "y"),
      salting("root", "x"),
      saltingOf(key, 1001)("tux", "x"),
      saltingOf({ API_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 2).toString("base64") }, 1000)("tux", "x"),
    ].map((salt) => salt.toString("hex"));
    expect(new Set(salts).size).toBe(5);
    expect(salts[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(salting("tux", "x").toString("hex")).toBe(salts[0]);
  });
});

describe("databaseVerifiers", () => {
  it("matches the example in MySQL's manual", () => {
    expect(databaseVerifiers.mysql("mypass", salting("mysql u", "mypass"))).toBe(
      "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4",
    );
  });

  it("has a salt for PostgreSQL", () => {
    const [one, other] = ["tux", "geeko"].map((user) => databaseVerifiers.pgsql("x", salting(user, "x")));
    expect(one).toMatch(/^SCRAM-SHA-256\$4096:[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}=$/);
    expect(one).not.toBe(other);
  });
});

describe("shadowHash", () => {
  it("is SHA-512 crypt with a salt of 16 characters", () => {
    for (const user of ["tux", "geeko", "root", "wwwrun"]) {
      expect(shadowHash("x", salting(user, "x"))).toMatch(/^\$6\$[./A-Za-z0-9]{16}\$[./A-Za-z0-9]{86}$/);
    }
  });

  it("equals glibc's hash", () => {
    const salt = Buffer.from("c2FsdHN0cmluZ3NhbHQA", "base64");
    expect(salt.toString("base64").slice(0, 16)).toBe("c2FsdHN0cmluZ3Nh");
    expect(shadowHash("Hello world!", salt)).toBe(
      "$6$c2FsdHN0cmluZ3Nh$gEP25/7CM.NAlGsamYqyusAEB62RX6A7uDgvtxLbNlreHDFB5rRdISRqS/kx2JkHtvPt/t4sLpdE8tki2JBVI/",
    );
  });
});
