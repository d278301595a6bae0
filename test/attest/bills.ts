import type { FrozenInput, InstalledPackage } from "#lib/contract/index";
import type { BillFacts } from "#lib/attest/sbom";

const sha256 = "a".repeat(64);
const key = { name: "Rhea", fingerprint: "d".repeat(40), armour: "-----BEGIN PGP PUBLIC KEY BLOCK-----" };

/** A bill of materials whose packages came from a mirror, from the service itself and from uploads. */
export const input: FrozenInput = {
  formatVersion: 1,
  appliance: { id: 7, name: "Kiosk", version: "0.0.1", arch: "x86_64" },
  imageType: "oem",
  imageName: "Kiosk.x86_64-0.0.1.oem",
  repositories: [
    { alias: "mirror", id: 1, name: "A mirror", url: "https://who:secret@mirror.example.org/os/?token=1" },
    {
      alias: "own",
      id: 2,
      name: "Tiny",
      url: "service:/repositories/tiny/main",
      trust: { index: "repodata/repomd.xml", indexSha256: sha256, signedBy: key.fingerprint, keys: [key] },
    },
    { alias: "uploads", id: 3, name: "tux's", url: "service:/user/3" },
  ],
  packages: [
    frozen("busybox", { repository: "mirror", location: "x86_64/busybox c++.rpm" }),
    frozen("libc++", { repository: "own", epoch: 2, checksum: { type: "sha224", value: "b".repeat(56) } }),
    frozen("mine", { repository: "uploads", checksum: { type: "md5", value: "c".repeat(32) } }),
    frozen("never-installed", { repository: "own" }),
  ],
  selection: { packages: [{ name: "busybox" }], patterns: [] },
  description: { "config.xml": "<image/>" },
  files: [
    { path: "/etc/motd", mode: 0o644, owner: "root", group: "root", size: 3, sha256, blobId: crypto.randomUUID() },
  ],
  keys: [key],
  writtenBy: "kiln 0.1.0",
};

export const installed: InstalledPackage[] = [
  { name: "mine", version: "1.0", release: "1", arch: "noarch", license: "Mine, all mine" },
  { name: "busybox", version: "1.0", release: "1", arch: "noarch", license: "GPL-2.0-only" },
  { name: "libc++", epoch: "2", version: "1.0", release: "1", arch: "noarch" },
  { name: "stray \u{1f9ed}\ud800", version: "", release: "", arch: "x86_64" },
];

export const facts: BillFacts = {
  uuid: "3f1c0a52-6c3b-5d53-9d7a-0f4a0f2f6f3e",
  image: {
    fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
    size: 1000,
    sha256,
    sha1: "b".repeat(40),
    md5: "c".repeat(32),
    type: "oem",
  },
  appliance: {
    uuid: "11111111-2222-4333-8444-555555555555",
    name: "Kiosk",
    version: "0.0.1",
    arch: "x86_64",
    baseSystem: "tiny-1.0",
  },
  startedAt: new Date("2026-11-21T10:00:00.123Z"),
  finishedAt: new Date("2026-11-21T10:01:00.999Z"),
  builder: "9.24.56",
};

function frozen(
  name: string,
  { repository, ...more }: Partial<FrozenInput["packages"][number]> & { repository: string },
): FrozenInput["packages"][number] {
  return {
    name,
    epoch: 0,
    version: "1.0",
    release: "1",
    arch: "noarch",
    repository,
    location: `${name}.rpm`,
    size: 1,
    checksum: { type: "sha256", value: sha256 },
    ...more,
  };
}
