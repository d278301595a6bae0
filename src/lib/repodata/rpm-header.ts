import { nvra } from "#lib/contract/index";
import { hexDigest } from "./checksum.ts";
import { type RpmFile, readFiles } from "./rpm-files.ts";
import { type Relation, type RelationKind, readRelations } from "./rpm-relations.ts";
import { RpmSection, maxHeaderBytes, malformed, sectionLength } from "./rpm-section.ts";

/** The header of an RPM, as plain values that can be stored as JSON. */
export interface RpmHeader {
  name: string;
  epoch: number;
  version: string;
  release: string;
  /** `src` or `nosrc` for a source package, regardless of the machine that built it. */
  arch: string;
  isSource: boolean;
  summary: string;
  description: string;
  group: string;
  license: string;
  vendor: string;
  packager: string;
  url: string;
  /** The size of its installed files. */
  installedBytes: number;
  /** The size of its decompressed payload. */
  archiveBytes: number;
  /** Seconds since 1970. */
  builtAt: number;
  buildHost: string;
  /** File name of the source package that it was built from. */
  sourceRpm: string;
  /** The position of the main header in the file. zypper can fetch only this part. */
  headerStart: number;
  headerEnd: number;
  /** The size of the whole file, if its signature header contains it. */
  fileBytes?: number;
  relations: Record<RelationKind, Relation[]>;
  files: RpmFile[];
}

/** Either the header, or the number of bytes from the start of the file that are needed to read it. */
export type RpmReading = { needBytes: number } | { header: RpmHeader };

const leadBytes = 96;
const leadMagic = 0xedabeedb;

/**
 * Reads lead, signature header and main header from the first bytes of an RPM. Does not read the payload.
 *
 *     lead 96 | signature header | padding to 8 | main header | payload …
 */
export function readRpmHeader(bytes: Uint8Array): RpmReading {
  if (bytes.byteLength >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) !== leadMagic) {
    throw malformed("it does not begin with the magic number of an RPM");
  }
  const signatureBytes = sectionLength(bytes, leadBytes);
  if (signatureBytes === undefined) return { needBytes: leadBytes + 16 };
  const headerStart = leadBytes + Math.ceil(signatureBytes / 8) * 8;
  const headerBytes = sectionLength(bytes, headerStart);
  if (headerBytes === undefined) return { needBytes: headerStart + 16 };
  const headerEnd = headerStart + headerBytes;
  if (headerEnd > maxHeaderBytes) throw malformed(`headers of ${headerEnd} bytes`);
  if (bytes.byteLength < headerEnd) return { needBytes: headerEnd };
  const signature = new RpmSection(bytes.subarray(leadBytes, leadBytes + signatureBytes));
  const main = bytes.subarray(headerStart, headerEnd);
  checkDigest(signature, main);
  return { header: describe(signature, new RpmSection(main), { headerStart, headerEnd }) };
}

export const rpmFileName = (header: RpmHeader) => `${nvra(header)}.rpm`;

const tags = {
  signatureSha256: 273,
  signatureLongSize: 270,
  signatureLongArchiveSize: 271,
  signatureSize: 1000,
  signaturePayloadSize: 1007,
  name: 1000,
  version: 1001,
  release: 1002,
  epoch: 1003,
  summary: 1004,
  description: 1005,
  buildTime: 1006,
  buildHost: 1007,
  size: 1009,
  vendor: 1011,
  license: 1014,
  packager: 1015,
  group: 1016,
  url: 1020,
  arch: 1022,
  sourceRpm: 1044,
  archiveSize: 1046,
  noSource: 1051,
  noPatch: 1052,
  sourcePackage: 1106,
  longSize: 5009,
} as const;

/** Since rpm 4.14 the signature header contains a digest of the main header, which detects a damaged upload. */
function checkDigest(signature: RpmSection, main: Uint8Array): void {
  const expected = signature.text(tags.signatureSha256);
  if (expected !== undefined && expected !== hexDigest("sha256", main)) {
    throw malformed("its header has the wrong digest");
  }
}

function describe(
  signature: RpmSection,
  main: RpmSection,
  range: { headerStart: number; headerEnd: number },
): RpmHeader {
  const text = (tag: number) => main.text(tag) ?? "";
  const isSource = main.has(tags.sourcePackage) || !main.has(tags.sourceRpm);
  const afterSignature = signature.number(tags.signatureLongSize) ?? signature.number(tags.signatureSize);
  const archOfSource = main.has(tags.noSource) || main.has(tags.noPatch) ? "nosrc" : "src";
  return {
    name: identifier(text(tags.name), "name"),
    epoch: main.number(tags.epoch) ?? 0,
    version: identifier(text(tags.version), "version"),
    release: identifier(text(tags.release), "release"),
    arch: isSource ? archOfSource : identifier(text(tags.arch), "arch"),
    isSource,
    summary: text(tags.summary),
    description: text(tags.description),
    group: text(tags.group),
    license: text(tags.license),
    vendor: text(tags.vendor),
    packager: text(tags.packager),
    url: text(tags.url),
    installedBytes: main.number(tags.longSize) ?? main.number(tags.size) ?? 0,
    archiveBytes: archiveBytes(signature, main),
    builtAt: main.number(tags.buildTime) ?? 0,
    buildHost: text(tags.buildHost),
    sourceRpm: text(tags.sourceRpm),
    ...range,
    ...(afterSignature !== undefined && { fileBytes: range.headerStart + afterSignature }),
    relations: readRelations(main),
    files: readFiles(main),
  };
}

const archiveBytes = (signature: RpmSection, main: RpmSection): number =>
  signature.number(tags.signatureLongArchiveSize) ??
  signature.number(tags.signaturePayloadSize) ??
  main.number(tags.archiveSize) ??
  0;

/**
 * Checks a text that becomes part of file names and URLs. rpm allows no white space in it; a slash would leave the
 * folder.
 */
function identifier(value: string, what: string): string {
  if (/^[^\s/\\\u0000-\u001f\u007f<>"'&]{1,200}$/.test(value) && value !== "." && value !== "..") return value;
  throw malformed(`its ${what} is ${JSON.stringify(value.slice(0, 80))}`);
}
