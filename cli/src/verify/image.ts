import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { billSuffixes, imageAmong, packageListName, provenanceSuffix } from "../attest.ts";
import type { Complaint } from "../complaint.ts";
import { digestOfFile } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { openEnvelope, unverified } from "./envelope.ts";
import { verifyProof, type Logged } from "./logged.ts";
import { verifyRebuilds, type Rebuild } from "./rebuilds.ts";

/** The provenance of a verified image. */
export interface Verified {
  file: string;
  appliance: string;
  appliance_id: number;
  version: string;
  image_type: string;
  arch: string;
  builder: string;
  build_id: string;
  finished_at: string;
  /** Whether it was built in a separate guest (`vm`). Undefined if the provenance is older. */
  isolation?: "vm" | "none";
  /** The part of an earlier build that was used. Undefined if the provenance is older. */
  started_from?: "nothing" | "disk" | "root" | "packages";
  key: string;
  sha256: string;
  /** The disk in the image, by its path there. Undefined if it has none, or if the provenance is older. */
  disk?: { path: string; sha256: string };
  /** Its place in the public log of the service. Undefined if no proof came with the image. */
  log?: Logged;
  /** The rebuilds of it, newest first. Undefined if no statement about one came with the image. */
  rebuilds?: Rebuild[];
}

/**
 * Checks an image and both bills of materials against the provenance file next to them. A disk that was unpacked from
 * the image may take its place. Works offline.
 */
export async function verifyImage(file: string, keys: readonly PinnedKey[], image = file): Promise<Verified> {
  if (!existsSync(image)) throw missing(image);
  const packed = archiveOf(file);
  const said = await verifyBills(packed ?? file, keys);
  await compare(image, packed === undefined ? said.sha256 : diskIn(said, file));
  return said;
}

/** The image that a disk was unpacked from, if its provenance is in the folder of the disk or in the one above. */
function archiveOf(disk: string): string | undefined {
  if (existsSync(disk + provenanceSuffix)) return undefined;
  const name = `${basename(disk, extname(disk))}.tar.gz`;
  return [dirname(disk), dirname(dirname(disk))]
    .map((folder) => join(folder, name))
    .find((image) => existsSync(image + provenanceSuffix));
}

function diskIn({ file, disk }: Verified, given: string): string {
  if (disk && basename(disk.path) === basename(given)) return disk.sha256;
  throw unverified(
    `The provenance of ${file} has no checksum of ${basename(given)}.`,
    `Verify ${file} itself, and unpack it again.`,
  );
}

/** Verifies everything but the image. Returns the provenance that the image must match. */
export async function verifyBills(file: string, keys: readonly PinnedKey[]): Promise<Verified> {
  const { statement, digest, key } = openEnvelope(await textOf(file + provenanceSuffix), keys);
  const { subject, predicate } = statement;
  const digestOf = (name: string) => subject.find((one) => one.name === name)?.digest.sha256;
  const image = imageAmong(subject);
  if (!image) throw unverified("The provenance is about something else.", "Download the image again.");
  refuseOtherName(file, image.name);
  for (const suffix of billSuffixes) await compare(file + suffix, digestOf(image.name + suffix));
  const log = verifyProof(file, { image: image.digest.sha256, statement: digest }, keys);
  const rebuilds = verifyRebuilds(file, image.digest.sha256, keys);
  const { externalParameters: wanted, internalParameters: means } = predicate.buildDefinition;
  const { builder, metadata, byproducts = [] } = predicate.runDetails;
  const disk = byproducts.find(({ name }) => name !== packageListName);
  return {
    file: image.name,
    appliance: wanted.appliance.name,
    appliance_id: wanted.appliance.id,
    version: wanted.version,
    image_type: wanted.imageType,
    arch: wanted.arch,
    builder: builder.id,
    build_id: metadata.invocationId,
    finished_at: metadata.finishedOn,
    ...(means.isolation && { isolation: means.isolation, started_from: means.startedFrom?.kind ?? "nothing" }),
    key: key.kid,
    sha256: image.digest.sha256,
    ...(disk && { disk: { path: disk.name, sha256: disk.digest.sha256 } }),
    ...(log && { log }),
    ...(rebuilds && { rebuilds }),
  };
}

/**
 * Refuses an image under another name. The name contains the appliance, version and type, so an older version with its
 * own valid signature could otherwise pass for a newer one.
 */
function refuseOtherName(file: string, signed: string): void {
  const name = basename(file);
  if (name === signed) return;
  throw unverified(
    `${name} has the signed provenance of ${signed}.`,
    `If you have renamed it, call it ${signed} again. If not, do not use it.`,
  );
}

async function compare(file: string, said: string | undefined): Promise<void> {
  const digest = await digestOfFile(file, "sha256").catch(() => {
    throw missing(file);
  });
  if (digest === said) return;
  const message = `${basename(file)} is not what was built: its SHA-256 differs.`;
  throw unverified(message, "Do not use it. Download it again.");
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, "utf8").catch(() => {
    throw missing(file);
  });
}

const missing = (file: string): Complaint =>
  unverified(
    `${file} is missing or cannot be read.`,
    "To verify an image, keep the three files that `kiln download` puts next to it.",
  );
