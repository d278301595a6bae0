import { describe, expect, it } from "vitest";
import { whyNoSshKey } from "#domain/configuration/ssh-key";
import { sshKeys } from "../support/ssh-keys.ts";

const { ed25519, ecdsa, rsa2048, rsa1024 } = sshKeys;
const [, body = ""] = ed25519.split(" ");

describe("whyNoSshKey", () => {
  it.each([ed25519, ecdsa, rsa2048, `ssh-ed25519 ${body}`])("takes a public key (%#)", (key) => {
    expect(whyNoSshKey(key)).toBeUndefined();
  });

  it.each([
    ["-----BEGIN OPENSSH PRIVATE KEY-----", "private key"],
    ["ssh-dss AAAAB3NzaC1kc3MAAACBAP7h9Wxk", "DSA keys are refused"],
    [rsa1024, "1024 bits is too weak"],
    ["clerk@desk1", "must begin with the type"],
    [`constructor ${body}`, "must begin with the type"],
    ["ssh-ed25519", "truncated"],
    [ed25519.slice(0, 60), "truncated"],
    [`ssh-rsa ${body}`, "truncated"],
    [`ssh-ed25519 ${body.slice(0, -8)}`, "truncated"],
    [`ssh-ed25519 ${body}AAAA`, "truncated"],
    [`ssh-ed25519 ${body.replace("A", "!")}`, "truncated"],
    // A key of 31 bytes whose declared length is also 31.
    [`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAH${"A".repeat(42)}`, "truncated"],
    [`${ed25519}\nssh-rsa x`, "one line"],
    [`${ed25519} ${"x".repeat(9000)}`, "one line"],
  ])("says why another text is none (%#)", (text, why) => {
    expect(whyNoSshKey(text)).toContain(why);
  });
});
