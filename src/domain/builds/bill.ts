import { baseUrlOf } from "#domain/base-url";
import { billOf, type BillFacts, type Sbom } from "#lib/attest/sbom";
import { diskIn, type FrozenInput, type InstalledPackage } from "#lib/contract/index";
import type { AttestationEnv } from "#domain/builds/attestation-keys";
import type { Services } from "#domain/services";
import { uuidOf } from "#domain/uuid";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { findInput, findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";

/** A build that can be attested. */
export type BuildWithImage = Build & Record<"fileName" | "sha256" | "sha1" | "md5", string> & { fileSize: number };

export const hasImage = (build: Build): build is BuildWithImage =>
  build.status === "finished" &&
  build.imageKey !== null &&
  [build.fileName, build.fileSize, build.sha256, build.sha1, build.md5].every((fact) => fact !== null);

/** Reads the packages of an image. Undefined if they are gone. */
export type ReadInstalled = () => Promise<InstalledPackage[] | undefined>;

/** The bill of materials of an image, and the input of its build. Undefined if either of them is gone. */
export async function billOfBuild(
  { env, db }: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  build: BuildWithImage,
  readInstalled: ReadInstalled = () => findInstalled(env.BLOBS, build.uid),
): Promise<{ bill: Sbom; input: FrozenInput } | undefined> {
  const [appliance, input, installed] = await Promise.all([
    findAnyAppliance(db, build.applianceId),
    findInput(env.BLOBS, build.inputSha256),
    readInstalled(),
  ]);
  if (!appliance || !input || !installed) return undefined;
  const facts = await billFacts(build, appliance, input);
  return { bill: billOf(facts, { input, installed, baseUrl: baseUrlOf(env) }), input };
}

async function billFacts(build: BuildWithImage, appliance: Appliance, input: FrozenInput): Promise<BillFacts> {
  const { fileName, fileSize: size, sha256, sha1, md5, imageType: type } = build;
  const { name, version, arch } = input.appliance;
  const finishedAt = build.completedAt ?? build.createdAt;
  return {
    uuid: await uuidOf(appliance.uuid, `attestations of build ${build.id}`),
    image: { fileName, size, sha256, sha1, md5, type, disk: diskOf(build) },
    appliance: { uuid: appliance.uuid, name, version, arch, baseSystem: input.configuration?.baseSystem },
    startedAt: build.startedAt ?? build.createdAt,
    finishedAt,
    builder: build.builder ?? "unknown",
    builtIn: builtIn(build),
    conditions: build.conditions ?? undefined,
  };
}

function diskOf({ imageType, fileName, diskSha256: sha256 }: BuildWithImage): BillFacts["image"]["disk"] {
  const path = diskIn({ imageType, fileName });
  return path !== undefined && sha256 !== null ? { path, sha256 } : undefined;
}

function builtIn({ builtIn }: Pick<BuildWithImage, "builtIn">): BillFacts["builtIn"] {
  const [name, sha256] = builtIn?.split("@") ?? [];
  return name !== undefined && sha256 !== undefined ? { name, sha256 } : undefined;
}
