import { baseUrlOf } from "#domain/base-url";
import { openSigningKey, readPublicKey, type PublicKey, type SigningKey } from "#lib/attest/signing-key";
import { Refusal } from "#domain/refusal";

export type AttestationEnv = Pick<Env, "ATTESTATION_KEY" | "ATTESTATION_RETIRED_KEYS" | "BASE_URL">;

/** The key that signs now. Refused if the operator has not configured one. */
export async function signingKey({ ATTESTATION_KEY: key }: Partial<AttestationEnv>): Promise<SigningKey> {
  if (!key) throw new Refusal("unknown_error", { message: withoutKey });
  return await openSigningKey(key);
}

/** The URI of the service in documents that it signs: its URL, or a name derived from its key. */
export const builderIdOf = (env: Pick<AttestationEnv, "BASE_URL">, key: Pick<SigningKey, "id">): string =>
  baseUrlOf(env) || `urn:kiln:service:${key.id}`;

const withoutKey = "This service has no signing key. Its operator can set one as ATTESTATION_KEY.";

/** All public keys of the service, current and former. The current signing key comes first, if there is one. */
export async function listPublicKeys(env: Partial<AttestationEnv>): Promise<(PublicKey & { isCurrent: boolean })[]> {
  const current = env.ATTESTATION_KEY ? [await openSigningKey(env.ATTESTATION_KEY)] : [];
  const retired = (env.ATTESTATION_RETIRED_KEYS ?? "").split(/[\s,]+/).flatMap((spki) => readPublicKey(spki) ?? []);
  return [
    ...current.map(({ id, x, pem }) => ({ id, x, pem, isCurrent: true })),
    ...retired.filter(({ id }) => id !== current[0]?.id).map((key) => ({ ...key, isCurrent: false })),
  ];
}
