import { describe, expect, it } from "vitest";
import { billOf } from "#lib/attest/sbom";
import { cycloneDxOf } from "#lib/attest/cyclonedx";
import { provenanceOf } from "#lib/attest/provenance";
import { purlOf } from "#lib/attest/purl";
import { spdxOf } from "#lib/attest/spdx";
import { facts, input, installed } from "./bills.ts";
import { CycloneDx, Provenance, Spdx } from "./shapes.ts";

const baseUrl = "https://kiln.example.org";
const bill = billOf(facts, { input, installed, baseUrl });
const origin = {
  input,
  inputSha256: "e".repeat(64),
  buildId: 12,
  builderId: baseUrl,
  baseUrl,
  documents: [{ name: "Kiosk.spdx.json", sha256: "f".repeat(64) }],
};

describe("purlOf", () => {
  const busybox = { name: "busybox", version: "1.35.0", release: "1", arch: "x86_64" };
  it.each<[Parameters<typeof purlOf>[0], Parameters<typeof purlOf>[1], string]>([
    [busybox, {}, "pkg:rpm/busybox@1.35.0-1?arch=x86_64"],
    [
      { ...busybox, epoch: "1" },
      { distro: "tiny-1.0" },
      "pkg:rpm/busybox@1.35.0-1?arch=x86_64&distro=tiny-1.0&epoch=1",
    ],
    [{ ...busybox, epoch: 0 }, { distro: "" }, "pkg:rpm/busybox@1.35.0-1?arch=x86_64"],
    [
      { ...busybox, name: "libstdc++6", version: "1~rc1^git(2)" },
      {},
      "pkg:rpm/libstdc%2B%2B6@1~rc1%5Egit%282%29-1?arch=x86_64",
    ],
    [
      busybox,
      { repositoryUrl: "https://mirror.example.org/os" },
      "pkg:rpm/busybox@1.35.0-1?arch=x86_64&repository_url=https:%2F%2Fmirror.example.org%2Fos",
    ],
    [{ ...busybox, arch: "amd64" }, { packageType: "deb" }, "pkg:deb/debian/busybox@1.35.0-1?arch=amd64"],
    [
      { name: "adduser", epoch: 1, version: "3.134+deb12u1", release: "", arch: "all" },
      { packageType: "deb", distro: "debian-12" },
      "pkg:deb/debian/adduser@1:3.134%2Bdeb12u1?arch=all&distro=debian-12",
    ],
    [{ ...busybox, name: "a*b" }, {}, "pkg:rpm/a%2Ab@1.35.0-1?arch=x86_64"],
    [{ ...busybox, arch: "" }, {}, "pkg:rpm/busybox@1.35.0-1"],
    [{ ...busybox, name: "\ud800" }, {}, "pkg:rpm/%EF%BF%BD@1.35.0-1?arch=x86_64"],
  ])("%j %j", (one, about, expected) => {
    expect(purlOf(one, about)).toBe(expected);
  });
});

describe("billOf", () => {
  it("joins the installed packages with the facts of their files", () => {
    expect(bill.packages.map(({ name, frozen }) => [name, frozen?.repository, frozen?.url])).toEqual([
      ["busybox", "A mirror", "https://mirror.example.org/os/x86_64/busybox%20c%2B%2B.rpm"],
      ["libc++", "Tiny", `${baseUrl}/repositories/tiny/main/libc%2B%2B.rpm`],
      ["mine", "tux's", undefined],
      [installed[3]?.name, undefined, undefined],
    ]);
  });

  it("ignores the order of the report and its duplicates", () => {
    const mixed = [...installed.toReversed(), ...installed];
    expect(billOf(facts, { input, installed: mixed, baseUrl })).toEqual(bill);
  });

  it("has no URLs if the service has no base URL", () => {
    const libc = billOf(facts, { input, installed, baseUrl: "" }).packages[1];
    expect(libc?.frozen?.url).toBeUndefined();
    expect(libc?.purl).toBe("pkg:rpm/libc%2B%2B@1.0-1?arch=noarch&distro=tiny-1.0&epoch=2");
  });
});

describe("attestation documents", () => {
  const spdx = Spdx.parse(spdxOf(bill));
  const cyclonedx = CycloneDx.parse(cycloneDxOf(bill));
  const provenance = Provenance.parse(provenanceOf(bill, origin));

  it("contain no password of a mirror", () => {
    expect(JSON.stringify([spdx, cyclonedx, provenance])).not.toMatch(/secret|token=/);
  });

  it("SPDX: describes the image once, and it contains everything else", () => {
    const ids = spdx.packages.map(({ SPDXID }) => SPDXID);
    expect(new Set(ids).size).toBe(ids.length);
    expect(spdx.relationships.map((one) => Object.values(one))).toEqual([
      ["SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image"],
      ...ids.slice(1).map((id) => ["SPDXRef-Image", "CONTAINS", id]),
    ]);
  });

  it("SPDX: includes versions, checksums and sources", () => {
    const byName = new Map(spdx.packages.map((one) => [one.name, one]));
    expect(byName.get("libc++")).toMatchObject({
      versionInfo: "2:1.0-1",
      checksums: [{ algorithm: "SHA224", checksumValue: "b".repeat(56) }],
      sourceInfo: "From the repository Tiny.",
    });
    expect(byName.get("mine")?.downloadLocation).toBe("NOASSERTION");
    expect(byName.get(installed[3]?.name ?? "")).toMatchObject({ comment: expect.stringContaining("not one of") });
    expect(byName.get("/etc/motd")).toMatchObject({ primaryPackagePurpose: "FILE" });
    expect(byName.get("Rhea")).toMatchObject({ versionInfo: "d".repeat(40) });
  });

  it("report licences as the packages declare them", () => {
    expect(spdx.hasExtractedLicensingInfos?.map(({ licenseId, extractedText }) => [licenseId, extractedText])).toEqual([
      ["LicenseRef-1", "GPL-2.0-only"],
      ["LicenseRef-2", "Mine, all mine"],
    ]);
    const declared = spdx.packages.slice(1, 4).map(({ licenseDeclared }) => licenseDeclared);
    expect(declared).toEqual(["LicenseRef-1", "NOASSERTION", "LicenseRef-2"]);
    expect(cyclonedx.components[0]?.licenses).toEqual([{ license: { name: "GPL-2.0-only" } }]);
  });

  it("CycloneDX: has unique references that all resolve", () => {
    const refs = cyclonedx.components.map((one) => one["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
    expect(cyclonedx.dependencies).toEqual([{ ref: "image", dependsOn: refs }]);
    expect(cyclonedx.metadata.component["bom-ref"]).toBe("image");
  });

  it("CycloneDX: omits a digest of an unsupported algorithm", () => {
    const hashes = new Map(cyclonedx.components.map(({ name, hashes }) => [name, hashes]));
    expect(hashes.get("libc++")).toBeUndefined();
    expect(hashes.get("mine")).toEqual([{ alg: "MD5", content: "c".repeat(32) }]);
  });

  it("provenance: covers the image and its documents, and lists every input", () => {
    expect(provenance.subject).toEqual([
      { name: facts.image.fileName, digest: { sha256: facts.image.sha256 } },
      { name: "Kiosk.spdx.json", digest: { sha256: "f".repeat(64) } },
    ]);
    const { externalParameters, resolvedDependencies } = provenance.predicate.buildDefinition;
    expect(resolvedDependencies[0]).toEqual({
      name: "Tiny: repodata/repomd.xml",
      uri: `${baseUrl}/repositories/tiny/main/repodata/repomd.xml`,
      digest: { sha256: "a".repeat(64) },
      annotations: { signedBy: "d".repeat(40) },
    });
    expect(resolvedDependencies.slice(1).map(({ name }) => name)).toEqual([
      ...input.packages.map(({ name }) => name),
      "/etc/motd",
      "Rhea",
    ]);
    expect(externalParameters).toMatchObject({
      version: "0.0.1",
      imageType: "oem",
      repositories: [{ name: "A mirror", uri: "https://mirror.example.org/os" }, { name: "Tiny" }, { name: "tux's" }],
    });
    expect(provenance.predicate.runDetails.metadata).toEqual({
      invocationId: "12",
      startedOn: "2026-11-21T10:00:00Z",
      finishedOn: "2026-11-21T10:01:00Z",
    });
  });
});
