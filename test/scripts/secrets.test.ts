import { createPrivateKey } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readOrMakeSecrets, secretsFile } from "../../scripts/launch/secrets.ts";
import { emptyFolder } from "./folder.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

afterEach(() => vi.restoreAllMocks());

describe("readOrMakeSecrets", () => {
  it("makes every required secret, readable by its owner only", () => {
    const state = emptyFolder();
    const secrets = readOrMakeSecrets(state);
    const required = /\[secrets\][^[]*required = (\[[^\]]*\])/.exec(readFileSync("wrangler.toml", "utf8"))?.[1] ?? "";
    expect(Object.keys(secrets).toSorted()).toEqual(JSON.parse(required).toSorted());
    expect(new Set(Object.values(secrets)).size).toBe(6);
    expect(modeOf(secretsFile(state))).toBe(0o600);
  });

  it("makes a 32-byte key for AES", () => {
    expect(Buffer.from(readOrMakeSecrets(emptyFolder()).API_KEY_ENCRYPTION_KEY, "base64")).toHaveLength(32);
  });

  it("makes an Ed25519 key that signs attestations", () => {
    const der = Buffer.from(readOrMakeSecrets(emptyFolder()).ATTESTATION_KEY, "base64");
    expect(createPrivateKey({ key: der, format: "der", type: "pkcs8" }).asymmetricKeyType).toBe("ed25519");
  });

  it("makes each secret once", () => {
    const state = emptyFolder();
    expect(readOrMakeSecrets(state)).toEqual(readOrMakeSecrets(state));
  });

  it("makes different secrets for another state directory", () => {
    expect(readOrMakeSecrets(emptyFolder()).ADMIN_SECRET).not.toBe(readOrMakeSecrets(emptyFolder()).ADMIN_SECRET);
  });

  it("adds a new secret and keeps the existing ones", () => {
    const state = emptyFolder();
    writeFileSync(secretsFile(state), JSON.stringify({ ADMIN_SECRET: "kept" }));
    expect(readOrMakeSecrets(state).ADMIN_SECRET).toBe("kept");
    expect(readOrMakeSecrets(state)).toEqual(readOrMakeSecrets(state));
    expect(modeOf(secretsFile(state))).toBe(0o600);
  });

  it("warns if the key of stored data is lost, and only then", () => {
    let warned = "";
    vi.spyOn(process.stderr, "write").mockImplementation((line) => Boolean((warned += String(line))));
    const state = emptyFolder();
    const { API_KEY_ENCRYPTION_KEY: _lost, ...others } = readOrMakeSecrets(state);
    mkdirSync(`${state}/worker/d1`, { recursive: true });
    readOrMakeSecrets(state);
    expect(warned).toBe("");

    writeFileSync(secretsFile(state), JSON.stringify(others));
    const made = readOrMakeSecrets(state);
    expect(warned).toContain(`! ${secretsFile(state)} had no API_KEY_ENCRYPTION_KEY.`);
    expect(readOrMakeSecrets(state)).toEqual(made);
  });

  it("makes a file private again if others could read it", () => {
    const state = emptyFolder();
    readOrMakeSecrets(state);
    chmodSync(secretsFile(state), 0o644);
    readOrMakeSecrets(state);
    expect(modeOf(secretsFile(state))).toBe(0o600);
  });

  it("refuses a broken file and does not overwrite it", () => {
    const state = emptyFolder();
    writeFileSync(secretsFile(state), "{");
    expect(() => readOrMakeSecrets(state)).toThrow(/Restore it from a backup/);
    expect(readFileSync(secretsFile(state), "utf8")).toBe("{");
  });
});
