import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Complaint } from "./complaint.ts";
import { readIfThere, writePrivateFile } from "./private-file.ts";

const hex = () => randomBytes(32).toString("hex");
const makers = {
  ADMIN_SECRET: hex,
  API_KEY_PEPPER: hex,
  /** AES-256, as base64 of its 32 bytes. */
  API_KEY_ENCRYPTION_KEY: () => randomBytes(32).toString("base64"),
  GATEWAY_TOKEN: hex,
  AGENT_TOKEN: hex,
  /** Ed25519, as base64 of its PKCS#8. */
  ATTESTATION_KEY: () =>
    generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
};

/** The names of `[env.production.secrets] required`, as far as one machine needs them. */
export type Secrets = Record<keyof typeof makers, string>;
const Kept = z.record(z.string(), z.string().min(1));

export const secretsFile = (stateDirectory: string) => join(stateDirectory, "secrets.json");

/** The secrets of a state directory: made once, kept for ever, readable by their owner only. */
export function readOrMakeSecrets(stateDirectory: string): Secrets {
  const path = secretsFile(stateDirectory);
  const kept = readSecrets(stateDirectory);
  const of = (name: keyof Secrets) => kept[name] ?? makers[name]();
  const secrets: Secrets = {
    ADMIN_SECRET: of("ADMIN_SECRET"),
    API_KEY_PEPPER: of("API_KEY_PEPPER"),
    API_KEY_ENCRYPTION_KEY: of("API_KEY_ENCRYPTION_KEY"),
    GATEWAY_TOKEN: of("GATEWAY_TOKEN"),
    AGENT_TOKEN: of("AGENT_TOKEN"),
    ATTESTATION_KEY: of("ATTESTATION_KEY"),
  };
  const isWhole = Object.keys(makers).every((name) => name in kept);
  if (isWhole) chmodSync(path, 0o600);
  else writePrivateFile(path, `${JSON.stringify({ ...kept, ...secrets }, null, 2)}\n`);
  return secrets;
}

/** What stands in secrets.json, nothing when there is none. */
export function readSecrets(stateDirectory: string): Partial<Secrets> {
  const path = secretsFile(stateDirectory);
  const text = readIfThere(path);
  if (text === undefined) return {};
  try {
    return Kept.parse(JSON.parse(text));
  } catch {
    throw new Complaint(
      `${path} is not a list of secrets. Put it back from a backup; without it the API keys of this state cannot be read.`,
    );
  }
}
