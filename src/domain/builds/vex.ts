import { signedEnvelope } from "#lib/attest/dsse";
import { statementType } from "#lib/attest/envelope";
import { vexStatement } from "#lib/attest/openvex";
import { findAdvisories } from "#domain/advisories/of-build";
import { builderIdOf, signingKey, type AttestationEnv } from "#domain/builds/attestation-keys";
import { billOfBuild, hasImage } from "#domain/builds/bill";
import type { Services } from "#domain/services";
import type { Build } from "#storage/builds";

/**
 * What the advisories that the service knows now say about an image, as a signed OpenVEX document. Undefined if there are none
 * of its base system.
 */
export async function findVex(
  { env, db }: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  build: Build,
): Promise<string | undefined> {
  const found = hasImage(build) ? await findAdvisories({ env, db }, build) : undefined;
  const readAt = Math.max(...(found?.feeds ?? []).map((feed) => feed.readAt?.getTime() ?? 0));
  if (!hasImage(build) || !found?.isKnown) return undefined;
  const bill = (await billOfBuild({ env, db }, build))?.bill;
  if (!bill) return undefined;
  const purls = new Map(bill.packages.map(({ name, purl }) => [name, purl]));
  const findings = found.advisories.map(({ packages, ...one }) => ({
    ...one,
    packages: packages.flatMap((name) => purls.get(name) ?? []),
  }));
  const key = await signingKey(env);
  const statement = vexStatement({
    image: build,
    author: builderIdOf(env, key),
    readAt: new Date(readAt),
    findings,
  });
  return await signedEnvelope(statementType, new TextEncoder().encode(JSON.stringify(statement)), key);
}
