import { z } from "zod";

/**
 * The requirements of the two standards for Kiln's documents: every required field, the enumerations, and no other
 * field. These shapes were compared with the official schemas, which are not part of the project.
 */
const rfc3339 = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const hex = z.string().regex(/^[0-9a-f]+$/);
const noAssertion = z.literal("NOASSERTION");
const spdxId = z.string().regex(/^SPDXRef-[a-zA-Z0-9.-]+$/);
const purl = z
  .string()
  .regex(/^pkg:rpm\/[A-Za-z0-9._~%:-]+@[A-Za-z0-9._~%:-]+(\?[a-z_]+=[^&\s]+(&[a-z_]+=[^&\s]+)*)?$/);

/** SPDX 2.3, clauses 6, 7 and 11. */
export const Spdx = z.strictObject({
  spdxVersion: z.literal("SPDX-2.3"),
  dataLicense: z.literal("CC0-1.0"),
  SPDXID: z.literal("SPDXRef-DOCUMENT"),
  name: z.string().min(1),
  documentNamespace: z.url().regex(/^[^#]+$/),
  creationInfo: z.strictObject({
    created: rfc3339,
    creators: z.array(z.string().regex(/^(Tool|Organization|Person): \S+/)).min(1),
  }),
  packages: z.array(
    z.strictObject({
      SPDXID: spdxId,
      name: z.string().min(1),
      versionInfo: z.string().optional(),
      packageFileName: z.string().optional(),
      downloadLocation: z.union([noAssertion, z.url()]),
      filesAnalyzed: z.literal(false),
      licenseConcluded: noAssertion,
      licenseDeclared: z.union([noAssertion, z.string().regex(/^LicenseRef-\d+$/)]),
      copyrightText: noAssertion,
      supplier: noAssertion,
      primaryPackagePurpose: z.enum(["OPERATING-SYSTEM", "LIBRARY", "FILE", "OTHER"]),
      sourceInfo: z.string().optional(),
      summary: z.string().optional(),
      comment: z.string().optional(),
      checksums: z
        .array(
          z.strictObject({
            algorithm: z.enum(["MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512"]),
            checksumValue: hex,
          }),
        )
        .min(1)
        .optional(),
      externalRefs: z
        .array(
          z.strictObject({
            referenceCategory: z.literal("PACKAGE-MANAGER"),
            referenceType: z.literal("purl"),
            referenceLocator: purl,
          }),
        )
        .optional(),
    }),
  ),
  hasExtractedLicensingInfos: z
    .array(
      z.strictObject({
        licenseId: z.string().regex(/^LicenseRef-[a-zA-Z0-9.-]+$/),
        name: z.string(),
        extractedText: z.string(),
        comment: z.string(),
      }),
    )
    .optional(),
  relationships: z.array(
    z.strictObject({
      spdxElementId: z.string(),
      relationshipType: z.enum(["DESCRIBES", "CONTAINS"]),
      relatedSpdxElement: spdxId,
    }),
  ),
});

const property = z.strictObject({ name: z.string(), value: z.string() });
const hash = z.union([
  z.strictObject({ alg: z.literal("MD5"), content: hex.length(32) }),
  z.strictObject({ alg: z.literal("SHA-1"), content: hex.length(40) }),
  z.strictObject({ alg: z.literal("SHA-256"), content: hex.length(64) }),
  z.strictObject({ alg: z.literal("SHA-384"), content: hex.length(96) }),
  z.strictObject({ alg: z.literal("SHA-512"), content: hex.length(128) }),
]);
const component = z.strictObject({
  "bom-ref": z.string().min(1),
  type: z.enum(["operating-system", "library", "file", "cryptographic-asset"]),
  name: z.string(),
  version: z.string().max(1024).optional(),
  licenses: z.array(z.strictObject({ license: z.strictObject({ name: z.string() }) })).optional(),
  purl: purl.optional(),
  hashes: z.array(hash).optional(),
  externalReferences: z.array(z.strictObject({ type: z.literal("distribution"), url: z.url() })).optional(),
  properties: z.array(property).optional(),
  cryptoProperties: z
    .strictObject({
      assetType: z.literal("related-crypto-material"),
      relatedCryptoMaterialProperties: z.strictObject({ type: z.literal("public-key"), id: hex }),
    })
    .optional(),
});

/** CycloneDX 1.6. */
export const CycloneDx = z.strictObject({
  $schema: z.literal("http://cyclonedx.org/schema/bom-1.6.schema.json"),
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  version: z.int().min(1),
  metadata: z.strictObject({
    timestamp: rfc3339,
    lifecycles: z.array(z.strictObject({ phase: z.literal("build") })),
    tools: z.strictObject({
      components: z.array(
        z.strictObject({ type: z.literal("application"), name: z.string().min(1), version: z.string() }),
      ),
    }),
    component,
  }),
  components: z.array(component),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

const digest = z.partialRecord(z.enum(["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]), hex);

const byproduct = z.strictObject({ name: z.string().min(1), digest });

/** in-toto Statement v1 with SLSA provenance v1. */
export const Provenance = z.strictObject({
  _type: z.literal("https://in-toto.io/Statement/v1"),
  subject: z.array(z.strictObject({ name: z.string().min(1), digest })).min(1),
  predicateType: z.literal("https://slsa.dev/provenance/v1"),
  predicate: z.strictObject({
    buildDefinition: z.strictObject({
      buildType: z.url(),
      externalParameters: z.record(z.string(), z.unknown()),
      internalParameters: z.record(z.string(), z.unknown()),
      resolvedDependencies: z.array(
        z.strictObject({
          name: z.string(),
          uri: z.url().optional(),
          digest,
          downloadLocation: z.url().optional(),
          annotations: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
    runDetails: z.strictObject({
      builder: z.strictObject({
        id: z.url(),
        version: z.record(z.string(), z.string()),
        builderDependencies: z.array(z.strictObject({ name: z.string(), digest })).optional(),
      }),
      metadata: z.strictObject({ invocationId: z.string(), startedOn: rfc3339, finishedOn: rfc3339 }),
      byproducts: z.tuple([byproduct.extend({ name: z.literal("packages") })], byproduct),
    }),
  }),
});
