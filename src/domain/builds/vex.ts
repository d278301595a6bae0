import { signedStatement } from "#lib/attest/signed-statement";
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
  if (!hasImage(build)) return undefined;
  const found = await findAdvisories({ env, db }, build);
  if (!found?.isKnown) return undefined;
  const bill = (await billOfBuild({ env, db }, build))?.bill;
  if (!bill) return undefined;
  const purls = new Map(bill.packages.map(({ name, purl }) => [name, purl]));
  const findings = found.advisories.map(({ packages, ...one }) => ({
    ...one,
    packages: packages.flatMap((name) => purls.get(name) ?? []),
  }));
  const key = await signingKey(env);
  const readAt = new Date(Math.max(...found.feeds.map((feed) => feed.readAt?.getTime() ?? 0)));
  const statement = vexStatement({ image: build, author: builderIdOf(env, key), readAt, findings });
  return await signedStatement(statement, key);
}
