import { evr } from "#lib/contract/index";
import { moment, type Sbom, type SbomPackage } from "./sbom.ts";

/**
 * A CycloneDX 1.6 document of an image: its packages, the appliance's own files, and the keys that its rpm or apt
 * trusts.
 */
export function cycloneDxOf(bill: Sbom): object {
  const components = [
    ...bill.packages.map(rpmComponent),
    ...bill.files.map(({ path, sha256 }, n) => ({
      "bom-ref": `file-${n + 1}`,
      type: "file",
      name: path,
      hashes: [{ alg: "SHA-256", content: sha256 }],
    })),
    ...bill.keys.map(({ name, fingerprint }, n) => ({
      "bom-ref": `key-${n + 1}`,
      type: "cryptographic-asset",
      name,
      cryptoProperties: {
        assetType: "related-crypto-material",
        relatedCryptoMaterialProperties: { type: "public-key", id: fingerprint },
      },
    })),
  ];
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${bill.uuid}`,
    version: 1,
    metadata: {
      timestamp: moment(bill.finishedAt),
      lifecycles: [{ phase: "build" }],
      tools: { components: [tool(bill.writtenBy), tool(`kiwi-ng ${bill.builder}`)] },
      component: imageComponent(bill),
    },
    components,
    dependencies: [{ ref: "image", dependsOn: components.map((one) => one["bom-ref"]) }],
  };
}

/** `written` contains name and version. */
function tool(written: string) {
  const [name = "", version = ""] = written.split(" ");
  return { type: "application", name, version };
}

const imageComponent = ({ image, appliance }: Sbom) => ({
  "bom-ref": "image",
  type: "operating-system",
  name: appliance.name,
  version: appliance.version,
  hashes: [
    { alg: "SHA-256", content: image.sha256 },
    { alg: "SHA-1", content: image.sha1 },
    { alg: "MD5", content: image.md5 },
  ],
  properties: [
    { name: "kiln:file", value: image.fileName },
    { name: "kiln:image_type", value: image.type },
    { name: "kiln:arch", value: appliance.arch },
  ],
});

function rpmComponent(one: SbomPackage) {
  const { name, purl, frozen, license } = one;
  const licenses = license === undefined ? {} : { licenses: [{ license: { name: license } }] };
  const shared = { "bom-ref": purl, type: "library", name, version: evr(one), ...licenses, purl };
  if (!frozen) return { ...shared, properties: [{ name: "kiln:resolved", value: "false" }] };
  const { checksum, repository, url } = frozen;
  const alg = algorithms[checksum.type];
  return {
    ...shared,
    ...(alg && { hashes: [{ alg, content: checksum.value }] }),
    ...(url !== undefined && { externalReferences: [{ type: "distribution", url }] }),
    properties: [{ name: "kiln:repository", value: repository }],
  };
}

/** CycloneDX has no name for SHA-224. */
const algorithms: Partial<Record<string, string>> = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};
