import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Complaint } from "./complaint.ts";
import { readIfThere, writePrivateFile } from "./private-file.ts";
import { warn } from "./progress.ts";

const hex = () => randomBytes(32).toString("hex");

/** The secrets of `[env.production.secrets] required` that one machine needs. */
export type Secrets = ReturnType<typeof makeSecrets>;
const Stored = z.record(z.string(), z.string().min(1));

export const secretsFile = (stateDirectory: string) => join(stateDirectory, "secrets.json");

/** New secrets, each in its own format. */
export const makeSecrets = () => ({
  ADMIN_SECRET: hex(),
  API_KEY_PEPPER: hex(),
  /** AES-256: 32 bytes in base64. */
  API_KEY_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
  GATEWAY_TOKEN: hex(),
  AGENT_TOKEN: hex(),
  /** Ed25519: PKCS#8 in base64. */
  ATTESTATION_KEY: generateKeyPairSync("ed25519")
    .privateKey.export({ type: "pkcs8", format: "der" })
    .toString("base64"),
});

/** The secrets of a state directory: created once, stored forever, and readable only by their owner. */
export function readOrMakeSecrets(stateDirectory: string): Secrets {
  const path = secretsFile(stateDirectory);
  const stored = readSecrets(stateDirectory);
  const secrets: Secrets = { ...makeSecrets(), ...stored };
  const isWhole = Object.keys(secrets).every((name) => name in stored);
  if (stored.API_KEY_ENCRYPTION_KEY === undefined && hasData(stateDirectory)) warnOfNewKey(path);
  if (isWhole) chmodSync(path, 0o600);
  else writePrivateFile(path, `${JSON.stringify({ ...stored, ...secrets }, null, 2)}\n`);
  return secrets;
}

const hasData = (stateDirectory: string) => existsSync(join(stateDirectory, "worker", "d1"));

function warnOfNewKey(path: string): void {
  warn(`${path} had no API_KEY_ENCRYPTION_KEY. Kiln made a new one, which cannot decrypt what this state has stored:`);
  warn(
    "API keys, passwords in configurations, secrets of webhooks. If you have the old key, stop Kiln, and add the old",
  );
  warn("key to the new one after a space.");
}

/** The content of secrets.json, or nothing if it does not exist. */
export function readSecrets(stateDirectory: string): Partial<Secrets> {
  const path = secretsFile(stateDirectory);
  const text = readIfThere(path);
  if (text === undefined) return {};
  try {
    return Stored.parse(JSON.parse(text));
  } catch {
    throw new Complaint(
      `${path} is not a list of secrets. Restore it from a backup. Without it, the API keys of this state cannot be read.`,
    );
  }
}
