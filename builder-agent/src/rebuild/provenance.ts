import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import {
  imageAmong,
  packageListName,
  provenanceSuffix,
  readEnvelope,
  type PublicKey,
  type Unproven,
} from "../attest.ts";
import { BuilderRootName, Sha256 } from "../contract.ts";
import { sha256OfFile } from "../file-hash.ts";
import { impossible, unverified } from "./outcome.ts";

const Digest = z.object({ sha256: Sha256 });

/** The parts of a provenance that a rebuild needs (docs/api/attestations.md). */
const Statement = z.object({
  predicateType: z.literal("https://slsa.dev/provenance/v1"),
  subject: z.array(z.object({ name: z.string(), digest: Digest })),
  predicate: z.object({
    buildDefinition: z.object({
      buildType: z.literal("urn:kiln:build:kiwi:1"),
      internalParameters: z.object({ frozenInput: Sha256, formatVersion: z.literal(1) }),
    }),
    runDetails: z.object({
      builder: z.object({
        id: z.string(),
        version: z.object({ "kiwi-ng": z.string() }),
        builderDependencies: z.array(z.object({ name: z.string(), digest: Digest })).optional(),
      }),
      metadata: z.object({ invocationId: z.string().regex(/^[1-9]\d{0,14}$/) }),
      byproducts: z.array(z.object({ name: z.string(), digest: Digest })).optional(),
    }),
  }),
});

/** The facts about an image in a signed provenance. */
export interface Claimed {
  image: { name: string; sha256: string };
  /** SHA-256 of the frozen input. */
  input: string;
  /** SHA-256 of the list of its packages. Undefined in a provenance of an older service. */
  packages: string | undefined;
  buildId: number;
  /** The service that signed. */
  service: string;
  /** KIWI's version. */
  kiwi: string;
  /** The builder root that it was built in. Undefined if it was built with the tools of the build host. */
  root: { name: string; sha256: string } | undefined;
}

const faults: Readonly<Record<Unproven["why"], (kids: string[]) => string>> = {
  damaged: () => "The file is not a signed provenance, or it is damaged.",
  "unknown key": (kids) => `The provenance is signed with a key that you did not name: ${kids.join(", ")}.`,
  "wrong signature": () => "The signature is wrong: the provenance was changed.",
};

/** Reads a provenance, which one of these keys must have signed. */
export function readProvenance(text: string, keys: readonly PublicKey[]): Claimed {
  const opened = readEnvelope(text, keys);
  if ("why" in opened) throw unverified(faults[opened.why](opened.kids));
  const parsed = Statement.safeParse(opened.statement);
  const image = parsed.success ? imageAmong(parsed.data.subject) : undefined;
  if (!parsed.success || !image) throw unverified("The signed statement is not the provenance of an image of Kiln.");
  const { buildDefinition, runDetails } = parsed.data.predicate;
  const { id: service, version, builderDependencies: [root] = [] } = runDetails.builder;
  return {
    image: { name: image.name, sha256: image.digest.sha256 },
    input: buildDefinition.internalParameters.frozenInput,
    packages: runDetails.byproducts?.find(({ name }) => name === packageListName)?.digest.sha256,
    buildId: Number(runDetails.metadata.invocationId),
    service,
    kiwi: version["kiwi-ng"],
    root: root && { name: BuilderRootName.parse(root.name.replace(/^builder root /, "")), sha256: root.digest.sha256 },
  };
}

/**
 * Compares an image with the claims of the provenance. The image is the given file, or the one next to the provenance.
 */
export async function refuseOtherImage(
  { image }: Pick<Claimed, "image">,
  { provenance, file }: { provenance: string; file: string | undefined },
): Promise<void> {
  const beside = join(dirname(provenance), basename(provenance, provenanceSuffix));
  const path = file ?? (existsSync(beside) ? beside : undefined);
  if (path === undefined) return;
  const found = await sha256OfFile(path).catch((cause: unknown) => {
    throw impossible(`${path} cannot be read.`, { cause });
  });
  if (found === image.sha256) return;
  const name = basename(path);
  throw unverified(
    name === image.name
      ? `${name} is not the image that was built: its SHA-256 is ${found}, and the provenance names ${image.sha256}.`
      : `The provenance is about ${image.name}, and not about ${name}: the SHA-256 differs.`,
  );
}
