import { z } from "zod";
import { type Checksum, parseChecksum } from "./checksum.ts";
import { RepodataFault } from "./fault.ts";
import { insideRepository } from "./location.ts";
import { parseXml } from "./parse-xml.ts";

/** Real files have 2 to 12 KB. */
export const maxRepomdBytes = 2 ** 20;

/** One file of metadata, as listed in the repository's index. */
export interface MetadataPart {
  type: string;
  /** Relative to the repository, and checked to be inside it. */
  path: string;
  checksum: Checksum;
  /** Checksum of the decompressed file; absent if the file is not compressed. */
  openChecksum?: Checksum;
  sizeBytes?: number;
  openBytes?: number;
  /** Seconds since 1970. */
  timestamp?: number;
}

export interface Repomd {
  revision?: string;
  /** The distributions that the repository is for, with CPE names such as `cpe:/o:opensuse:leap:15.5`. */
  distributions: { cpeId?: string; name: string }[];
  content: string[];
  parts: MetadataPart[];
}

/** Reads repomd.xml, the index of an rpm-md repository. Ignores unknown elements and unknown types of data. */
export function readRepomd(bytes: Uint8Array): Repomd {
  if (bytes.byteLength > maxRepomdBytes) {
    throw new RepodataFault("too_large", `repomd.xml is larger than ${maxRepomdBytes} bytes`);
  }
  const parsed = RepomdXml.safeParse(parseXml(bytes, "repomd", "repomd.xml") || {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RepodataFault("malformed_metadata", `repomd.xml: ${issue?.path.join("/")}: ${issue?.message}`);
  }
  const { revision, tags, data } = parsed.data;
  return {
    ...(revision === undefined ? {} : { revision }),
    distributions: tags.flatMap(({ distro }) => distro),
    content: tags.flatMap((tag) => tag.content),
    parts: data.map(part),
  };
}

/**
 * The file to read for a type of data. If a repository offers it in several compressions, picks the smallest, because
 * all have the same content. zchunk is not supported.
 */
export function pickPart(parts: readonly MetadataPart[], type: string): MetadataPart | undefined {
  return parts
    .filter((one) => one.type === type && /\.(xml|gz|zst|xz|bz2)$/.test(one.path))
    .toSorted((a, b) => (a.sizeBytes ?? Infinity) - (b.sizeBytes ?? Infinity))[0];
}

// fast-xml-parser returns an element as a string, an object if it has attributes or children, or an array if it
// repeats.
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    (value) => (value === undefined || value === "" ? [] : Array.isArray(value) ? value : [value]),
    z.array(item),
  );
const text = z.preprocess(
  (value) => (typeof value === "object" && value !== null && "#text" in value ? value["#text"] : value),
  z.string(),
);
const count = text.pipe(z.string().regex(/^\d{1,15}$/, "is not a number")).transform(Number);
// yum wrote timestamps with fractions of a second.
const seconds = text
  .pipe(z.string().regex(/^\d{1,15}(\.\d+)?$/, "is not a time"))
  .transform((value) => Math.floor(Number(value)));
const checksum = z.object({ "@type": z.string(), "#text": z.string() });
const distro = z.union([
  z.string().transform((name) => ({ name })),
  z
    .object({ "@cpeid": z.string().optional(), "#text": z.string().default("") })
    .transform(({ "@cpeid": cpeId, "#text": name }) => (cpeId === undefined ? { name } : { cpeId, name })),
]);
const DataXml = z.object({
  "@type": z.string().min(1),
  checksum,
  "open-checksum": checksum.optional(),
  location: z.object({ "@href": z.string().min(1) }),
  size: count.optional(),
  "open-size": count.optional(),
  timestamp: seconds.optional(),
});
const RepomdXml = z.object({
  revision: text.optional(),
  tags: listOf(z.object({ content: listOf(text), distro: listOf(distro) })),
  data: listOf(DataXml),
});

function part(data: z.infer<typeof DataXml>): MetadataPart {
  const { size, timestamp } = data;
  const [open, openBytes] = [data["open-checksum"], data["open-size"]];
  return {
    type: data["@type"],
    path: insideRepository(data.location["@href"]),
    checksum: parseChecksum(data.checksum["@type"], data.checksum["#text"]),
    ...(open && { openChecksum: parseChecksum(open["@type"], open["#text"]) }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(openBytes !== undefined && { openBytes }),
    ...(timestamp !== undefined && { timestamp }),
  };
}
