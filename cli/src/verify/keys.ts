import { readFileSync } from "node:fs";
import { publicKeyOf } from "../attest.ts";
import { Complaint } from "../complaint.ts";
import { unreachable } from "../client/failure.ts";
import type { PinnedKey } from "../login/login.ts";

/** The public keys of a service, the current one first. */
export async function fetchKeys(url: string): Promise<PinnedKey[]> {
  const answer = await fetch(`${url}/.well-known/kiln-attestation-keys.json`).catch((error: unknown) => {
    throw unreachable(url, error);
  });
  const notKiln = () =>
    new Complaint(
      "unreachable",
      `${url} is not a Kiln service.`,
      "Check the address, without a path: https://kiln.example.org.",
    );
  if (!answer.ok) throw notKiln();
  const { keys } = (await answer.json().catch(() => ({}))) as { keys?: { pem: string }[] };
  if (!Array.isArray(keys)) throw notKiln();
  return keys.map(({ pem }) => publicKeyOf(pem));
}

/** The key in a PEM file. */
export function readKey(file: string): PinnedKey {
  try {
    return publicKeyOf(readFileSync(file, "utf8"));
  } catch {
    throw new Complaint(
      "misused",
      `${file} is not a public key in PEM.`,
      "Get it from ADDRESS/.well-known/kiln-attestation.pem.",
    );
  }
}
