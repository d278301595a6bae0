import { createHash } from "node:crypto";
import { evr } from "#lib/contract/index";
import { moment, type Sbom, type SbomPackage } from "./sbom.ts";

type Package = Record<string, unknown> & { SPDXID: string };

/**
 * An SPDX 2.3 document of an image: the image CONTAINS its packages, the appliance's own files, and the keys that its
 * rpm trusts. Files are packages with the purpose FILE, because an SPDX file requires a SHA-1, which is not known.
 */
export function spdxOf(bill: Sbom): object {
  const image = imagePackage(bill);
  const licences = licenceRefs(bill);
  const contents = [
    ...bill.packages.map((one, n) => rpmPackage(one, n + 1, licences)),
    ...bill.files.map(({ path, sha256 }, n) => ({
      ...plain(`SPDXRef-File-${n + 1}`, path, "FILE"),
      checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
    })),
    ...bill.keys.map(({ name, fingerprint, armour }, n) => ({
      ...plain(`SPDXRef-Key-${n + 1}`, name, "OTHER"),
      versionInfo: fingerprint,
      summary: "A GPG key that the rpm of the image trusts; its version is its fingerprint.",
      checksums: [{ algorithm: "SHA256", checksumValue: createHash("sha256").update(armour).digest("hex") }],
    })),
  ];
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: bill.image.fileName,
    documentNamespace: `https://spdx.org/spdxdocs/${bill.image.fileName}-${bill.uuid}`,
    creationInfo: { created: moment(bill.finishedAt), creators: [`Tool: ${bill.writtenBy.replace(" ", "-")}`] },
    packages: [image, ...contents],
    ...(licences.size > 0 && { hasExtractedLicensingInfos: [...licences].map(licensingInfo) }),
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", image),
      ...contents.map((one) => relationship(image.SPDXID, "CONTAINS", one)),
    ],
  };
}

const relationship = (from: string, relationshipType: string, to: Package) => ({
  spdxElementId: from,
  relationshipType,
  relatedSpdxElement: to.SPDXID,
});

/** The fields that every package must have. Unknown ones are NOASSERTION. */
const plain = (SPDXID: string, name: string, primaryPackagePurpose: string) => ({
  SPDXID,
  name,
  downloadLocation: "NOASSERTION",
  filesAnalyzed: false,
  licenseConcluded: "NOASSERTION",
  licenseDeclared: "NOASSERTION",
  copyrightText: "NOASSERTION",
  supplier: "NOASSERTION",
  primaryPackagePurpose,
});

const imagePackage = ({ image, appliance, builder }: Sbom): Package => ({
  ...plain("SPDXRef-Image", appliance.name, "OPERATING-SYSTEM"),
  versionInfo: appliance.version,
  packageFileName: image.fileName,
  sourceInfo: `Built as ${image.type} for ${appliance.arch} by KIWI ${builder}.`,
  checksums: [
    { algorithm: "SHA256", checksumValue: image.sha256 },
    { algorithm: "SHA1", checksumValue: image.sha1 },
    { algorithm: "MD5", checksumValue: image.md5 },
  ],
});

/** Licence fields of packages are free text, so each text is a separate licence in this document. */
const licenceRefs = ({ packages }: Sbom): ReadonlyMap<string, string> =>
  new Map(
    [...new Set(packages.flatMap(({ license }) => license ?? []))]
      .toSorted()
      .map((text, n) => [text, `LicenseRef-${n + 1}`]),
  );

const licensingInfo = ([text, licenseId]: [string, string]) => ({
  licenseId,
  name: text,
  extractedText: text,
  comment: "The licence as stated in the package.",
});

function rpmPackage(one: SbomPackage, n: number, licences: ReadonlyMap<string, string>): Package {
  const { name, purl, frozen, license = "" } = one;
  const shared = {
    ...plain(`SPDXRef-Package-${n}`, name, "LIBRARY"),
    versionInfo: evr(one),
    licenseDeclared: licences.get(license) ?? "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
  };
  if (!frozen) return { ...shared, comment: "In the image, although it is not one of the resolved packages." };
  const { checksum, repository, url } = frozen;
  return {
    ...shared,
    downloadLocation: url ?? "NOASSERTION",
    sourceInfo: `From the repository ${repository}.`,
    checksums: [{ algorithm: checksum.type.toUpperCase(), checksumValue: checksum.value }],
  };
}
