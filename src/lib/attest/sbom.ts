import {
  nvra,
  type BuildConditions,
  type FrozenFile,
  type FrozenInput,
  type FrozenKey,
  type FrozenPackage,
  type ImageType,
  type InstalledPackage,
} from "#lib/contract/index";
import { purlOf } from "./purl.ts";

/** The facts for all documents about one image (docs/api/attestations.md). */
export interface Sbom {
  /** Identifies the documents. Stays the same each time they are made. */
  uuid: string;
  image: {
    fileName: string;
    /** Bytes of the download, and its digests in hex. */
    size: number;
    sha256: string;
    sha1: string;
    md5: string;
    type: ImageType;
    /** The disk in the archive; absent if there is none, or if it was built by an older agent. */
    disk?: { path: string; sha256: string } | undefined;
  };
  appliance: { uuid: string; name: string; version: string; arch: string; baseSystem: string | undefined };
  startedAt: Date;
  finishedAt: Date;
  /** The program that wrote the documents, such as `kiln 0.1.0`. */
  writtenBy: string;
  builder: string;
  /** The builder root; absent if built with the tools of the agent's host, or before there were builder roots. */
  builtIn?: { name: string; sha256: string } | undefined;
  /** Absent if an older agent built it. */
  conditions?: BuildConditions | undefined;
  /** The packages that rpm or dpkg reported in the image, by name. */
  packages: SbomPackage[];
  files: FrozenFile[];
  keys: FrozenKey[];
}

/** A package in the image, with facts about its file. */
export interface SbomPackage extends InstalledPackage {
  purl: string;
  /** Absent if it is not one of the packages that the selection resolved to. */
  frozen?: { repository: string; checksum: FrozenPackage["checksum"]; url: string | undefined } | undefined;
}

/** Facts from the build's row and its appliance. */
export type BillFacts = Omit<Sbom, "packages" | "files" | "keys" | "writtenBy">;

/**
 * Joins the packages found in the image with the frozen input. `baseUrl` is the service's URL, or empty if it has none.
 */
export function billOf(
  facts: BillFacts,
  { input, installed, baseUrl }: { input: FrozenInput; installed: InstalledPackage[]; baseUrl: string },
): Sbom {
  const frozen = new Map(input.packages.map((one) => [nvra(one), one]));
  const sources = sourcesOf(input, baseUrl);
  const billed = [...new Map(installed.map((one) => [nvra(one), one]))]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, one]) =>
      billedPackage(one, { frozen: frozen.get(name), sources, facts, packageType: input.packageType }),
    );
  return {
    ...facts,
    packages: billed,
    files: input.files ?? [],
    keys: input.keys ?? [],
    writtenBy: input.writtenBy,
  };
}

/** The origins of packages, by the alias of their repository. */
export type Sources = ReadonlyMap<string, { name: string; url: string | undefined }>;

/**
 * User repositories have no public URL, and repositories that the service stores have one only if the service has one.
 * All other URLs are shown without anything that might be a password.
 */
export const sourcesOf = ({ repositories }: Pick<FrozenInput, "repositories">, baseUrl: string): Sources =>
  new Map(repositories.map(({ alias, name, url }) => [alias, { name, url: publicUrl(url, baseUrl) }]));

function publicUrl(url: string, baseUrl: string): string | undefined {
  const path = /^service:(\/repositories\/.*)$/.exec(url)?.[1];
  if (path !== undefined) return baseUrl === "" ? undefined : baseUrl + path;
  const outside = URL.parse(url);
  if (!outside || !/^(https?|ftp):$/.test(outside.protocol)) return undefined;
  return `${outside.protocol}//${outside.host}${outside.pathname}`.replace(/\/$/, "");
}

/** The URL of a frozen package's file; undefined if its repository has no public URL. */
export function fileUrl({ repository, location }: FrozenPackage, sources: Sources): string | undefined {
  const base = sources.get(repository)?.url;
  return base && `${base}/${location.toWellFormed().split("/").map(encodeURIComponent).join("/")}`;
}

interface Joined {
  frozen: FrozenPackage | undefined;
  sources: Sources;
  facts: Pick<Sbom, "appliance">;
  packageType: FrozenInput["packageType"];
}

function billedPackage(installed: InstalledPackage, { frozen, sources, facts, packageType }: Joined): SbomPackage {
  const source = frozen && sources.get(frozen.repository);
  const purl = purlOf(installed, { packageType, distro: facts.appliance.baseSystem, repositoryUrl: source?.url });
  if (!frozen) return { ...installed, purl };
  const repository = source?.name ?? frozen.repository;
  return { ...installed, purl, frozen: { repository, checksum: frozen.checksum, url: fileUrl(frozen, sources) } };
}

/** `2026-11-21T14:20:00Z`: SPDX allows no fractions of a second. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
