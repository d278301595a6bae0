import { createHash } from "node:crypto";
import type { FrozenInput, FrozenPackage, FrozenRepository } from "#lib/contract/index";
import { packageListDigest, packageListName } from "./package-list.ts";
import { fileUrl, moment, sourcesOf, type Sbom, type Sources } from "./sbom.ts";
import { purlOf } from "./purl.ts";

/** The facts of a provenance that are not in the bill. */
export interface Origin {
  input: FrozenInput;
  /** SHA-256 of the frozen input, in hex. */
  inputSha256: string;
  buildId: number;
  /** URI of the service: its URL, or a name derived from its key. */
  builderId: string;
  baseUrl: string;
  /** Other files about the image that the statement covers, with their SHA-256 in hex. */
  documents: { name: string; sha256: string }[];
}

/** An in-toto Statement v1 with a SLSA provenance v1 of an image. */
export const provenanceOf = (bill: Sbom, origin: Origin): object => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: [
    { name: bill.image.fileName, digest: { sha256: bill.image.sha256 } },
    ...origin.documents.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  ],
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: "urn:kiln:build:kiwi:1",
      externalParameters: externalParameters(bill, origin),
      internalParameters: {
        frozenInput: origin.inputSha256,
        formatVersion: origin.input.formatVersion,
        builderRoot: bill.builtIn?.name ?? "host",
        ...bill.conditions,
      },
      resolvedDependencies: dependencies(bill, origin),
    },
    runDetails: {
      builder: { id: origin.builderId, version: versions(bill), ...builderRoot(bill) },
      metadata: {
        invocationId: String(origin.buildId),
        startedOn: moment(bill.startedAt),
        finishedOn: moment(bill.finishedAt),
      },
      byproducts: [{ name: packageListName, digest: { sha256: packageListDigest(bill.packages) } }, ...disk(bill)],
    },
  },
});

/** A disk can be verified after it was unpacked. It is not a subject, because it is not a file next to the others. */
const disk = ({ image }: Sbom) =>
  image.disk ? [{ name: image.disk.path, digest: { sha256: image.disk.sha256 } }] : [];

/** The user's request. */
const externalParameters = ({ appliance, image }: Sbom, { input, baseUrl }: Origin) => ({
  appliance: { id: input.appliance.id, uuid: appliance.uuid, name: appliance.name },
  version: appliance.version,
  imageType: image.type,
  arch: appliance.arch,
  repositories: [...sourcesOf(input, baseUrl).values()].map(({ name, url }) => ({ name, ...(url && { uri: url }) })),
  selection: input.selection,
});

/** Signed repository indexes, resolved packages (in the image or not), and the appliance's own files and keys. */
function dependencies({ appliance: { baseSystem }, files, keys }: Sbom, { input, baseUrl }: Origin): object[] {
  const sources = sourcesOf(input, baseUrl);
  const rpm = (one: FrozenPackage) => {
    const { repository, checksum } = one;
    const url = fileUrl(one, sources);
    return {
      name: one.name,
      uri: purlOf(one, {
        packageType: input.packageType,
        distro: baseSystem,
        repositoryUrl: sources.get(repository)?.url,
      }),
      digest: { [checksum.type]: checksum.value },
      ...(url !== undefined && { downloadLocation: url }),
    };
  };
  return [
    ...input.repositories.flatMap((one) => repositoryIndex(one, sources)),
    ...input.packages.map(rpm),
    ...files.map(({ path, sha256 }) => ({ name: path, digest: { sha256 } })),
    ...keys.map(({ name, fingerprint, armour }) => ({
      name,
      digest: { sha256: createHash("sha256").update(armour).digest("hex") },
      annotations: { fingerprint },
    })),
  ];
}

/** The index that the packages were chosen from, if it is signed. */
function repositoryIndex({ alias, name, trust }: FrozenRepository, sources: Sources): object[] {
  if (!trust) return [];
  const { index, indexSha256, signedBy } = trust;
  const url = sources.get(alias)?.url;
  const uri = url === undefined ? {} : { uri: `${url}/${index}` };
  return [{ name: `${name}: ${index}`, ...uri, digest: { sha256: indexSha256 }, annotations: { signedBy } }];
}

/** The builder root in which KIWI ran, by the digest of its file. Undefined if KIWI ran on the agent's host. */
const builderRoot = ({ builtIn }: Sbom) =>
  builtIn && { builderDependencies: [{ name: `builder root ${builtIn.name}`, digest: { sha256: builtIn.sha256 } }] };

function versions({ writtenBy, builder }: Sbom): Record<string, string> {
  const [name = "kiln", version = ""] = writtenBy.split(" ");
  return { [name]: version, "kiwi-ng": builder };
}
