import {
  nvra,
  type FrozenFile,
  type FrozenInput,
  type FrozenKey,
  type FrozenPackage,
  type ImageType,
  type InstalledPackage,
} from "#contract/index";
import { purlOf } from "./purl.ts";

/** All that the documents about one image are made of (docs/api/attestations.md). */
export interface Bill {
  /** Names the documents: the same whenever they are made. */
  uuid: string;
  image: {
    fileName: string;
    /** Bytes of the download, and its digests in hex. */
    size: number;
    sha256: string;
    sha1: string;
    md5: string;
    type: ImageType;
  };
  appliance: { uuid: string; name: string; version: string; arch: string; baseSystem: string | undefined };
  startedAt: Date;
  finishedAt: Date;
  /** As `kiln 0.1.0`, and KIWI's version. */
  writtenBy: string;
  builder: string;
  /** What rpm reported in the image, by name. */
  packages: BilledPackage[];
  files: FrozenFile[];
  keys: FrozenKey[];
}

/** A package in the image, with what was known of its file. */
export interface BilledPackage extends InstalledPackage {
  purl: string;
  /** Absent: it was not among the packages that the selection resolved to. */
  frozen?: { repository: string; checksum: FrozenPackage["checksum"]; url: string | undefined } | undefined;
}

/** Facts of the row and its appliance. */
export type BillFacts = Omit<Bill, "packages" | "files" | "keys" | "writtenBy">;

/** Joins what was found in the image with what it was made of. `baseUrl`: of the service; empty: it has none of its own. */
export function billOf(
  facts: BillFacts,
  { input, installed, baseUrl }: { input: FrozenInput; installed: InstalledPackage[]; baseUrl: string },
): Bill {
  const frozen = new Map(input.packages.map((one) => [nvra(one), one]));
  const sources = sourcesOf(input, baseUrl);
  const billed = [...new Map(installed.map((one) => [nvra(one), one]))]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, one]) => billedPackage(one, { frozen: frozen.get(name), sources, facts }));
  return {
    ...facts,
    packages: billed,
    files: input.files ?? [],
    keys: input.keys ?? [],
    writtenBy: input.writtenBy,
  };
}

/** Where packages came from, by the alias of their repository. */
export type Sources = ReadonlyMap<string, { name: string; url: string | undefined }>;

/**
 * User repositories have no address for others, and those that the service keeps have one when the service has: the rest is
 * told without what might be a password.
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

/** Where the file of a frozen package lies; undefined where its repository has no address. */
export function fileUrl({ repository, location }: FrozenPackage, sources: Sources): string | undefined {
  const base = sources.get(repository)?.url;
  return base && `${base}/${location.toWellFormed().split("/").map(encodeURIComponent).join("/")}`;
}

interface Joined {
  frozen: FrozenPackage | undefined;
  sources: Sources;
  facts: Pick<Bill, "appliance">;
}

function billedPackage(installed: InstalledPackage, { frozen, sources, facts }: Joined): BilledPackage {
  const source = frozen && sources.get(frozen.repository);
  const purl = purlOf(installed, { distro: facts.appliance.baseSystem, repositoryUrl: source?.url });
  if (!frozen) return { ...installed, purl };
  const repository = source?.name ?? frozen.repository;
  return { ...installed, purl, frozen: { repository, checksum: frozen.checksum, url: fileUrl(frozen, sources) } };
}

/** `2026-11-21T14:20:00Z`: SPDX takes no fractions of a second. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
