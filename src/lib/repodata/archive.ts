import { type ParsedTarEntry, createTarDecoder } from "modern-tar";
import { type OtherDecompressor, decompressed } from "./decompress.ts";
import { RepodataFault } from "./fault.ts";
import { type InflationLimits, inflationGuard } from "./limits.ts";
import { streamOf } from "./streams.ts";

/** A package inside a tarball. Read its stream to the end, or cancel it, before you take the next one. */
export interface ArchivedPackage {
  /** The file's name without folders; safe as a file name. */
  fileName: string;
  sizeBytes: number;
  stream: ReadableStream<Uint8Array>;
}

export interface ArchiveLimits extends InflationLimits {
  /** The maximum number of members of any kind. */
  members: number;
  packages: number;
  packageBytes: number;
}

/** The ratio is low because packages are already compressed, so a tarball of them hardly shrinks. */
export const archiveLimits: ArchiveLimits = {
  members: 10_000,
  packages: 1_000,
  packageBytes: 2 * 2 ** 30,
  maxBytes: 4 * 2 ** 30,
  maxRatio: 50,
  graceBytes: 8 * 2 ** 20,
};

/**
 * Streams the RPM and Debian packages in a tarball: .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz or .tar.zst. Recognises the
 * format by the bytes, not by the file name. Skips other regular files and folders. Refuses an archive with a link, a
 * device or a path that points outside, because such an archive of packages is never made by accident.
 */
export async function* packagesOfArchive(
  source: ReadableStream<Uint8Array>,
  other: OtherDecompressor,
  limits: ArchiveLimits = archiveLimits,
): AsyncGenerator<ArchivedPackage> {
  const guard = inflationGuard(limits, "the archive");
  const opened = await decompressed(source.pipeThrough(guard.compressed), other);
  const entries = opened.pipeThrough(guard.opened).pipeThrough(createTarDecoder({ strict: true }));
  const seen = { members: 0, packages: 0 };
  try {
    for await (const entry of entries) {
      if (++seen.members > limits.members) throw tooLarge(`more than ${limits.members} members`);
      const fileName = packageName(entry);
      if (fileName === undefined) {
        await entry.body.cancel();
        continue;
      }
      if (++seen.packages > limits.packages) throw tooLarge(`more than ${limits.packages} packages`);
      if (entry.header.size > limits.packageBytes) throw tooLarge(`a package of ${entry.header.size} bytes`);
      yield { fileName, sizeBytes: entry.header.size, stream: streamOf(bodyOf(entry), () => entry.body.cancel()) };
    }
  } catch (error) {
    throw asFault(error);
  }
}

/** The bytes of a member. An error of the tar reader becomes a RepodataFault. */
async function* bodyOf(entry: ParsedTarEntry): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of entry.body) yield chunk;
  } catch (error) {
    throw asFault(error);
  }
}

const asFault = (error: unknown): RepodataFault =>
  error instanceof RepodataFault
    ? error
    : malformed(error instanceof Error ? error.message : "is not a tar archive", error);

const malformed = (why: string, cause?: unknown) =>
  new RepodataFault("malformed_archive", `the archive: ${why}`, cause === undefined ? {} : { cause });
const tooLarge = (why: string) => new RepodataFault("too_large", `the archive has ${why}`);

/** The file name of a member that is a package; undefined for members to skip. */
function packageName({ header: { name, type } }: ParsedTarEntry): string | undefined {
  if (name.startsWith("/") || name.split("/").includes("..") || /[\\\u0000-\u001f\u007f]/.test(name)) {
    throw malformed(`member ${JSON.stringify(name.slice(0, 120))} points outside the archive`);
  }
  if (type === "directory") return undefined;
  if (type !== "file") throw malformed(`member ${JSON.stringify(name.slice(0, 120))} is a ${type}`);
  const fileName = name.slice(name.lastIndexOf("/") + 1);
  return /^[^.].{0,250}\.(rpm|deb)$/s.test(fileName) ? fileName : undefined;
}
