import { readFileSync } from "node:fs";
import { publicKeyOf } from "../attest.ts";
import { Complaint } from "../complaint.ts";
import { isBusy, unavailable } from "../client/failure.ts";
import { send } from "../client/send.ts";
import { value } from "../command.ts";
import type { PinnedKey } from "../login/login.ts";

/** The public keys of a service, the current one first. */
export async function fetchKeys(url: string): Promise<PinnedKey[]> {
  const answer = await send(`${url}/.well-known/kiln-attestation-keys.json`);
  if (isBusy(answer)) throw unavailable(answer.url, answer.status);
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

export const keyOption = value("file", "public key of the service in PEM, in place of the pinned ones; or KILN_KEY");

/** The key in a PEM file. */
function readKey(file: string): PinnedKey {
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

/** The keys that a signature may have: the one in a file, or else the pinned ones. */
export function trustedKeys(file: string | undefined, pinned: readonly PinnedKey[]): readonly PinnedKey[] {
  const given = file ?? process.env["KILN_KEY"];
  if (given) return [readKey(given)];
  if (pinned.length > 0) return pinned;
  throw new Complaint(
    "unverified",
    "There is no key to verify the signature with.",
    "`kiln login ADDRESS` pins the key of a service; or name a file with --key.",
  );
}
