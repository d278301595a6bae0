import { listPublicKeys, type AttestationEnv } from "#domain/builds/attestation-keys";
import type { Services } from "#domain/services";
import { readEnvelope } from "#lib/attest/envelope";
import { deleteAttestations, findAttestations, listAttestedBuilds } from "#storage/attestations";

/** Each build costs one read from R2, of a few megabytes at most. */
const pageSize = 20;

/**
 * Deletes the documents of images that no key of the service has signed: the operator has replaced a leaked key, and
 * does not list it. The next request for them signs them again. `next` is where the next call continues, or null at the
 * end.
 */
export async function deleteForeignAttestations(
  { env, db }: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  after: number,
): Promise<{ deleted: number; next: number | null }> {
  const keys = (await listPublicKeys(env)).map(({ id, pem }) => ({ kid: id, pem }));
  const builds = await listAttestedBuilds(db, { after, limit: pageSize });
  let deleted = 0;
  for (const { uid } of builds) {
    const found = await findAttestations(env.BLOBS, uid);
    if (!found || !("why" in readEnvelope(found.provenance, keys))) continue;
    await deleteAttestations(env.BLOBS, uid);
    deleted++;
  }
  return { deleted, next: builds.length < pageSize ? null : (builds.at(-1)?.id ?? null) };
}
