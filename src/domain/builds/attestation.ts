import { baseUrlOf } from "#domain/base-url";
import { createHash } from "node:crypto";
import type { Sbom } from "#lib/attest/sbom";
import { cycloneDxOf } from "#lib/attest/cyclonedx";
import { signedStatement } from "#lib/attest/signed-statement";
import { provenanceSuffix } from "#lib/attest/envelope";
import { provenanceOf } from "#lib/attest/provenance";
import { spdxOf } from "#lib/attest/spdx";
import type { FrozenInput } from "#lib/contract/index";
import { builderIdOf, signingKey, type AttestationEnv } from "#domain/builds/attestation-keys";
import { billOfBuild, hasImage, type BuildWithImage } from "#domain/builds/bill";
import { findVex } from "#domain/builds/vex";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { findAttestations, keepAttestations, type Attestations } from "#storage/attestations";
import { findBuildByUid, isUnfinished, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listRebuilds } from "#storage/rebuilds";
import { findVisibleBuild } from "#storage/visible-builds";

type UsedEnv = Pick<Env, "BLOBS"> & AttestationEnv;

const signedLines = "application/vnd.in-toto.bundle";

/** The documents about an image that can be downloaded. The file name is the image's name followed by this suffix. */
export const attestationFormats = {
  spdx: { suffix: ".spdx.json", contentType: "application/spdx+json" },
  cyclonedx: { suffix: ".cdx.json", contentType: "application/vnd.cyclonedx+json; version=1.6" },
  provenance: { suffix: provenanceSuffix, contentType: signedLines },
  rebuilds: { suffix: `.rebuilds${provenanceSuffix}`, contentType: signedLines },
  vex: { suffix: `.vex${provenanceSuffix}`, contentType: signedLines },
} as const;
export type AttestationFormat = keyof typeof attestationFormats;
export const formats: readonly AttestationFormat[] = ["spdx", "cyclonedx", "provenance", "rebuilds", "vex"];
/** Why an image may lack such a document. Every image has the other documents. */
export const lackOf: Partial<Record<AttestationFormat, string>> = {
  rebuilds: "no statements about rebuilds",
  vex: "no VEX document, because the service has no advisories of its base system",
};
/** The documents that every image has. */
export const madeFormats = ["spdx", "cyclonedx", "provenance"] as const satisfies readonly AttestationFormat[];

const noTexts = { spdx: undefined, cyclonedx: undefined, provenance: undefined };

/** A document, as the file next to its image. */
export interface AttestationFile {
  format: AttestationFormat;
  text: string;
  contentType: string;
  fileName: string;
}

/**
 * The documents that exist for an image. Only an image that was rebuilt has statements about rebuilds, and a VEX
 * document requires advisories for its base system.
 */
export async function attestationFiles(
  { env, db }: Services<UsedEnv>,
  build: Build,
  wanted: readonly AttestationFormat[] = formats,
): Promise<AttestationFile[]> {
  const isMade = madeFormats.some((format) => wanted.includes(format));
  const [made, rebuilds, vex] = await Promise.all([
    isMade ? getAttestations({ env, db }, build) : undefined,
    wanted.includes("rebuilds") ? rebuildStatements(db, build) : undefined,
    wanted.includes("vex") ? findVex({ env, db }, build) : undefined,
  ]);
  const texts: Record<AttestationFormat, string | undefined> = { ...noTexts, ...made, rebuilds, vex };
  return wanted.flatMap((format) => {
    const text = texts[format];
    const { suffix, contentType } = attestationFormats[format];
    return text === undefined ? [] : [{ format, text, contentType, fileName: (build.fileName ?? "image") + suffix }];
  });
}

/** The signed statements about the rebuilds of a build, one per line, newest first. Undefined if there are none. */
async function rebuildStatements(db: Database, { id }: Pick<Build, "id">): Promise<string | undefined> {
  const rebuilds = await listRebuilds(db, [id]);
  return rebuilds.map(({ rebuiltStatement }) => rebuiltStatement ?? "").join("") || undefined;
}

/** A build with an image that the account may read: its own, one shared with it, or one of a published version. */
export async function getAttestedBuild(db: Database, accountId: number, id: number): Promise<Build> {
  const build = await findVisibleBuild(db, accountId, id);
  if (!build || isUnfinished(build)) throw new Refusal("invalid_build_id", { reason: "unknown" });
  if (!hasImage(build)) throw new Refusal("build_not_found");
  return build;
}

/**
 * The documents about the image of a finished build. They are created once and stored: when the build ends, or at the
 * first request if that failed or the build is older than attestations.
 */
export async function getAttestations({ env, db }: Services<UsedEnv>, build: Build): Promise<Attestations> {
  const kept = await findAttestations(env.BLOBS, build.uid);
  if (kept) return kept;
  const made = hasImage(build) ? await makeAttestations({ env, db }, build) : undefined;
  if (!made) throw new Refusal("build_not_found");
  return await keepAttestations(env.BLOBS, build.uid, made);
}

/** Creates the documents of a finished build. Without a key, none are created. */
export async function attestBuild({ env, db }: Services<UsedEnv>, uid: string): Promise<void> {
  const build = env.ATTESTATION_KEY ? await findBuildByUid(db, uid) : undefined;
  if (build && hasImage(build)) await getAttestations({ env, db }, build);
}

/** Undefined if a source of the documents is gone. */
async function makeAttestations(
  { env, db }: Services<UsedEnv>,
  build: BuildWithImage,
): Promise<Attestations | undefined> {
  const found = await billOfBuild({ env, db }, build);
  return found && (await signed(env, found.bill, { input: found.input, build }));
}

/** The subjects of the provenance are the image and both SBOMs, so that one signature covers all of them. */
async function signed(
  env: AttestationEnv,
  bill: Sbom,
  { input, build }: { input: FrozenInput; build: BuildWithImage },
): Promise<Attestations> {
  const key = await signingKey(env);
  const baseUrl = baseUrlOf(env);
  const spdx = written(spdxOf(bill));
  const cyclonedx = written(cycloneDxOf(bill));
  const named = (format: AttestationFormat, text: string) => ({
    name: build.fileName + attestationFormats[format].suffix,
    sha256: sha256Of(text),
  });
  const statement = provenanceOf(bill, {
    input,
    inputSha256: build.inputSha256,
    buildId: build.id,
    builderId: builderIdOf(env, key),
    baseUrl,
    documents: [named("spdx", spdx), named("cyclonedx", cyclonedx)],
  });
  return { spdx, cyclonedx, provenance: await signedStatement(statement, key) };
}

const written = (document: object): string => `${JSON.stringify(document)}\n`;

export const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");
