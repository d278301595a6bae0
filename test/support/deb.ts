/** Deb repositories as files, in Debian's format. */
import { createHash } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createCleartextMessage, generateKey, type PrivateKey, sign } from "openpgp";
import type { RepositoryFiles } from "./mirror.ts";

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** `name version[ arch]`, then fields: `bash 5.2.15-2+b13 amd64; Depends: base-files (>= 2.1.12)`. */
function stanza(text: string): string {
  const [head = "", ...fields] = text.split(/; */);
  const [name = "", version = "", arch = "amd64"] = head.split(" ");
  const file = `pool/main/${name[0]}/${name}/${name}_${version.replace(/^\d+:/, "")}_${arch}.deb`;
  return [
    `Package: ${name}`,
    `Version: ${version}`,
    "Installed-Size: 24",
    "Maintainer: Someone <someone@example.org>",
    `Architecture: ${arch}`,
    ...fields,
    `Description: the package ${name}`,
    "Description-md5: 0123456789abcdef0123456789abcdef",
    "Section: misc",
    "Priority: optional",
    `Filename: ${file}`,
    "Size: 1234",
    `SHA256: ${sha256(file)}`,
    "",
  ].join("\n");
}

export const packagesFile = (stanzas: readonly string[]): string => stanzas.map(stanza).join("\n");

interface Suite {
  codename?: string;
  /** Packages by `component/arch`. */
  lists: Record<string, string[]>;
  key?: PrivateKey;
  validUntil?: string;
  byHash?: boolean;
  compression?: "gz" | "zst" | "none";
}

/** The files of a suite, relative to its directory. Signed if there is a key, otherwise with a plain Release. */
export async function debSuite({
  codename = "test",
  lists,
  key,
  compression = "gz",
  ...more
}: Suite): Promise<RepositoryFiles> {
  const files: RepositoryFiles = {};
  const listed: string[] = [];
  for (const [place, stanzas] of Object.entries(lists)) {
    const [component, arch] = place.split("/");
    const directory = place === "" ? "" : `${component}/binary-${arch}/`;
    const { name, bytes } = packed(packagesFile(stanzas), compression);
    listed.push(` ${sha256(bytes)} ${bytes.byteLength} ${directory}${name}`);
    files[more.byHash ? `${directory}by-hash/SHA256/${sha256(bytes)}` : `${directory}${name}`] = bytes;
  }
  const release = releaseOf({ codename, listed, ...more }, Object.keys(lists));
  if (!key) return { ...files, Release: release };
  const message = await createCleartextMessage({ text: release });
  return { ...files, InRelease: await sign({ message, signingKeys: key }) };
}

function packed(text: string, compression: Suite["compression"]): { name: string; bytes: Uint8Array } {
  if (compression === "gz") return { name: "Packages.gz", bytes: new Uint8Array(gzipSync(text)) };
  if (compression === "zst") return { name: "Packages.zst", bytes: new Uint8Array(zstdCompressSync(text)) };
  return { name: "Packages", bytes: new TextEncoder().encode(text) };
}

function releaseOf(
  {
    codename,
    listed,
    validUntil,
    byHash,
  }: { codename: string; listed: string[]; validUntil?: string; byHash?: boolean },
  places: string[],
): string {
  const part = (at: number) => [...new Set(places.map((place) => place.split("/")[at] ?? ""))].join(" ");
  return [
    "Origin: Test",
    `Codename: ${codename}`,
    "Date: Sat, 21 Nov 2026 00:53:02 UTC",
    ...(validUntil === undefined ? [] : [`Valid-Until: ${validUntil}`]),
    ...(byHash ? ["Acquire-By-Hash: yes"] : []),
    "No-Support-for-Architecture-all: Packages",
    `Architectures: ${part(1)}`,
    `Components: ${part(0)}`,
    "SHA256:",
    ...listed,
    "",
  ].join("\n");
}

export async function archiveKey(name = "Archive"): Promise<{ secret: PrivateKey; armour: string }> {
  const { privateKey: secret } = await generateKey({ userIDs: [{ name }], format: "object" });
  return { secret, armour: secret.toPublic().armor() };
}
