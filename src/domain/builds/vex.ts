import { signedStatement } from "#lib/attest/signed-statement";
import { vexStatement } from "#lib/attest/openvex";
import type { SbomPackage } from "#lib/attest/sbom";
import { listed } from "#domain/advisories/listed-packages";
import { findAdvisories } from "#domain/advisories/of-build";
import { builderIdOf, signingKey, type AttestationEnv } from "#domain/builds/attestation-keys";
import { LruCache } from "#domain/lru-cache";
import { billOfBuild, hasImage, type ReadInstalled } from "#domain/builds/bill";
import type { Services } from "#domain/services";
import { findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";

/**
 * The signed documents. Anybody may ask for that of a published image, and each takes a bill of materials and a
 * signature, so it is made once for the same advisories and statements. The weight is the number of characters.
 */
const made = new LruCache<{ weight: number; text: string }>(4 * 2 ** 20);

/** The current advisories about an image, as a signed OpenVEX document. Undefined if no feed covers its base system. */
export async function findVex(
  { env, db }: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  build: Build,
): Promise<string | undefined> {
  if (!hasImage(build)) return undefined;
  let read: ReturnType<ReadInstalled> | undefined;
  const readOnce = () => (read ??= findInstalled(env.BLOBS, build.uid));
  const found = await findAdvisories({ env, db }, build, readOnce);
  if (!found?.isKnown) return undefined;
  const readAt = found.feeds.map((feed) => feed.readAt?.getTime() ?? 0);
  const statements = found.advisories.map(({ statement }) => statement);
  const name = JSON.stringify([build.uid, readAt, statements]);
  const known = made.get(name);
  if (known) return known.text;
  const bill = (await billOfBuild({ env, db }, build, readOnce))?.bill;
  if (!bill) return undefined;
  const bySource = Map.groupBy(bill.packages, (one) => sourceOf(one));
  const findings = found.advisories.map((one) => ({
    ...one,
    packages: (bySource.get(`${one.source} ${one.installed}`) ?? []).map(({ purl }) => purl),
  }));
  const key = await signingKey(env);
  const newest = new Date(Math.max(...readAt));
  const statement = vexStatement({ image: build, author: builderIdOf(env, key), readAt: newest, findings });
  const text = await signedStatement(statement, key);
  made.set(name, { weight: text.length, text });
  return text;
}

/**
 * The source of a package. A package may be installed for several architectures, so advisories find its package URLs by
 * its source.
 */
function sourceOf(one: SbomPackage): string {
  const { source, sourceVersion } = listed(one);
  return `${source} ${sourceVersion}`;
}
