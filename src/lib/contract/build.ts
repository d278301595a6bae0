import { z } from "zod";
import { Capabilities, ClaimOnce, Incarnation } from "./agent.ts";
import { Arch, BuilderRootName, Firmware, ImageType, PackageType, Sha256 } from "./image-type.ts";
import { RequestId } from "./request-id.ts";
import { FrozenKey, RepositoryTrust } from "./trust.ts";

/** The header that carries the attempt token on every call about a claimed build or testdrive. */
export const attemptHeader = "x-kiln-attempt";

/** One repository of the frozen input. `service:/…` is a repository that the Worker itself serves. */
export const FrozenRepository = z.object({
  alias: z.string().regex(/^[a-z0-9-]+$/),
  id: z.int().positive(),
  name: z.string(),
  url: z.string(),
  /** The URL that keeps the packages of the chosen snapshot after `url` has changed. Absent if there is none. */
  snapshotUrl: z.string().optional(),
  /**
   * The repository comes from a catalogue of the operator, so it may use a mirror that is reserved for catalogues.
   * Absent for others, and for the service's own repositories.
   */
  isOfCatalogue: z.literal(true).optional(),
  /** Null if not signed. Absent if frozen by an older version, or if its keys have not been read yet. */
  trust: RepositoryTrust.nullable().optional(),
});
export type FrozenRepository = z.infer<typeof FrozenRepository>;

/** The checksum types of packages. */
const checksumTypes = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] as const;

/** The maximum number of characters in a paragraph. Debian's longest has 40,000, most of them in capabilities. */
const maxControlCharacters = 2 ** 18;

/**
 * One package file of the image. The agent fetches exactly this file.
 *
 * Debian writes a version as `epoch:upstream-revision`: `epoch` is its epoch (0 if none), `version` the upstream
 * version, and `release` the revision, the part after the last dash (empty for a native package). `evr` joins them
 * again.
 */
export const FrozenPackage = z.object({
  name: z.string().min(1),
  epoch: z.int().nonnegative(),
  version: z.string().min(1),
  release: z.string(),
  /** As the packages state it: `x86_64`, `i686`, `noarch`; for deb `amd64`, `i386`, `all`. */
  arch: z.string().min(1),
  /** The alias of its repository, and the file's path below that. */
  repository: z.string(),
  location: z.string().min(1),
  checksum: z.object({ type: z.enum(checksumTypes), value: z.string().regex(/^[0-9a-f]{32,128}$/) }),
  /** Bytes of the file; 0 if the metadata does not state them. */
  size: z.int().nonnegative(),
  /**
   * Only for deb: the lines of the package's paragraph in `Packages`, each with its line feed, without the fields that
   * identify the file (Filename, Size, checksums) and those that only people read. With these fields and an empty line
   * it is a paragraph of a `Packages` file.
   */
  control: z.string().max(maxControlCharacters).optional(),
});
export type FrozenPackage = z.infer<typeof FrozenPackage>;

/** The appliance's configuration beyond its KIWI description, without secrets, for manifests. */
export const FrozenConfiguration = z.object({
  baseSystem: z.string(),
  /** The size of the unpacked image, as shown with the appliance. */
  estimatedRawMb: z.int().nonnegative(),
  locale: z.object({ language: z.string(), keyboardLayout: z.string(), timezone: z.string() }),
  runlevel: z.int(),
  network: z.object({
    type: z.string(),
    hostname: z.string(),
    ip: z.string(),
    netmask: z.string(),
    route: z.string(),
    nameservers: z.array(z.string()),
  }),
  firewall: z.object({ enabled: z.boolean(), openPorts: z.array(z.string()) }),
  webyast: z.boolean(),
  /** The memory of the target machine; absent if frozen by an older version. */
  memoryMb: z.int().positive().optional(),
  /** Whether the target machine has a CD-ROM drive; absent if frozen by an older version. */
  cdrom: z.boolean().optional(),
  /** The user's script for the end of a build; absent if there is none or it is disabled. */
  buildScript: z.string().optional(),
});
export type FrozenConfiguration = z.infer<typeof FrozenConfiguration>;

/** The format of the package database in images of rpm. Not every rpm can write each of them. */
export const RpmDatabase = z.enum(["ndb", "sqlite"]);
export type RpmDatabase = z.infer<typeof RpmDatabase>;

/** The minimum that a base system needs. The agent's own configuration may give a build more. */
export const BuilderNeeds = z.object({
  memoryMb: z.int().min(512).max(65_536).optional(),
  diskGb: z.int().min(1).max(1000).optional(),
});
export type BuilderNeeds = z.infer<typeof BuilderNeeds>;

/** Limits of an appliance, so that a frozen input stays small enough to send. */
export const frozenLimits = { files: 10_000, keys: 100, descriptionFiles: 1000, descriptionCharacters: 16 * 2 ** 20 };

/**
 * A file of the appliance itself. The agent fetches its content (GET /agent/builds/:id/contents/:blobId) and puts it
 * next to the description as `stagedContents`/BLOB. config.sh moves it into place.
 */
export const FrozenFile = z.object({
  /** The path in the image: absolute, without `..` and without a slash at the end. */
  path: z.string().regex(/^\/./).max(4096),
  /** The mode's bits, e.g. 0o644. */
  mode: z.int().min(0).max(0o7777),
  /** Names, or numbers as text. */
  owner: z.string().max(64),
  group: z.string().max(64),
  size: z.int().nonnegative(),
  sha256: Sha256,
  blobId: z.uuid(),
});
export type FrozenFile = z.infer<typeof FrozenFile>;

/** A folder of the KIWI description. */
export const stagedContents = "root/image/kiln/contents";

/** The KIWI description's name for the one repository, which the agent creates on its disk from the frozen packages. */
export const frozenSource = "repo:frozen";

/** The one component of that repository, if its packages are deb packages. */
export const frozenComponent = "main";

/**
 * Everything that determines the content of a build. It is hashed, and written to R2 before the row exists. The KIWI
 * description names one repository, `frozenSource`, because only the agent knows where it stored the packages.
 */
export const FrozenInput = z.object({
  formatVersion: z.literal(1),
  appliance: z.object({ id: z.int(), name: z.string(), version: z.string(), arch: Arch }),
  imageType: ImageType,
  /** The type of all its packages and repositories. Default: rpm. */
  packageType: PackageType.optional(),
  /** The release of a deb system, as debootstrap knows it: `bookworm`. */
  debRelease: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/)
    .optional(),
  /** The builder root that it must be built in. Default: the agent's default root, or its host. */
  builderRoot: BuilderRootName.optional(),
  /** Default: the format of the builder's own rpm. */
  rpmDatabase: RpmDatabase.optional(),
  /** The minimum of the guest that builds it. Without it, the agent's configuration decides. */
  builderNeeds: BuilderNeeds.optional(),
  /** The firmware that the builder must support. Absent if frozen by an older version, which had only BIOS. */
  firmware: Firmware.exclude(["uefi"]).optional(),
  /** Whether it also boots with Secure Boot on. The description contains all of that, so older agents build it, too. */
  hasSecureBoot: z.literal(true).optional(),
  /** File name of the result without its extension, e.g. "Kiosk.x86_64-0.0.1.oem". */
  imageName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/),
  repositories: z.array(FrozenRepository),
  /** The packages that the selection resolved to. Exactly these are installed. */
  packages: z.array(FrozenPackage).min(1),
  /** Names in the selection. */
  selection: z.object({
    packages: z.array(
      z.object({ name: z.string(), version: z.string().optional(), repository: z.string().optional() }),
    ),
    patterns: z.array(z.string()),
  }),
  /** The packages that represent the selected patterns; absent if frozen by an older version. */
  patterns: z
    .array(z.object({ name: z.string(), version: z.string(), release: z.string(), repository: z.string() }))
    .optional(),
  /** Texts of the KIWI description by relative path: config.xml, config.sh, and those below `root/`. */
  description: z
    .record(z.string().max(4096), z.string().max(frozenLimits.descriptionCharacters))
    .refine((files) => Object.keys(files).length <= frozenLimits.descriptionFiles),
  /** Absent if frozen by an older version. */
  files: z.array(FrozenFile).max(frozenLimits.files).optional(),
  /** Absent if frozen by an older version. */
  keys: z.array(FrozenKey).max(frozenLimits.keys).optional(),
  /** Absent if frozen by an older version. */
  configuration: FrozenConfiguration.optional(),
  /**
   * When the frozen appliance was last changed, in seconds since 1970. The image's files get this time, so that the
   * same input makes the same image. Absent if frozen by an older version.
   */
  sourceDate: z.int().nonnegative().optional(),
  /** The version of Kiln that wrote the description. */
  writtenBy: z.string(),
});
export type FrozenInput = z.infer<typeof FrozenInput>;

/** POST /agent/builds/claim: returns the oldest build that the agent can do, or null. */
export const BuildClaimRequest = z.object({
  capabilities: Capabilities,
  /** Absent from older agents. */
  incarnation: Incarnation.optional(),
  ...ClaimOnce.shape,
});
export type BuildClaimRequest = z.infer<typeof BuildClaimRequest>;
export const BuildClaim = z.object({
  buildId: z.int().positive(),
  attempt: z.int().positive(),
  /** Sent in `attemptHeader`. The token of a late attempt gets a 410. */
  token: z.string(),
  /** Time limit of the whole build, in ms from the claim. */
  timeLimitMs: z.int().positive(),
  input: FrozenInput,
  /** Seconds per phase of the latest similar builds, newest first. The agent computes the percentage from them. */
  earlierPhases: z.array(z.record(z.string(), z.number())),
  /**
   * Other formats of this version exist or are being built, so the agent should request their prepared root and upload
   * its own. Default: false.
   */
  sharesRoot: z.boolean().optional(),
  /** The service stores a delta of the disk, if the agent makes one. */
  takesDelta: z.literal(true).optional(),
  /** The image is only compared with that of an earlier build (rebuild.ts). */
  isRebuild: z.literal(true).optional(),
  requestId: RequestId.optional(),
});
export type BuildClaim = z.infer<typeof BuildClaim>;
export const BuildClaimAnswer = z.object({ build: BuildClaim.nullable() });

/** Steps of a build as users read them, in order; `profile/steps` of the finished build has one per phase. */
export const phases = [
  "Fetching appliance configuration",
  "Preparing the build",
  "Installing software",
  "Configuring the system",
  "Creating the image",
  "Compressing the image",
  "Uploading the image",
] as const;
export const Phase = z.enum(phases);
export type Phase = z.infer<typeof Phase>;

/** POST /agent/builds/:id/heartbeat; renews the lease. */
export const Heartbeat = z.object({
  phase: Phase,
  /** 0 to 99. Only finish means 100. */
  percent: z.int().min(0).max(99),
  /** One line for users, e.g. "Installing software (12/48) busybox". */
  message: z.string().max(200),
});
export type Heartbeat = z.infer<typeof Heartbeat>;
/** If `cancel` is true, the agent must stop and send nothing more. */
export const HeartbeatAnswer = z.object({ cancel: z.boolean() });

/** The maximum number of bytes in PUT /agent/builds/:id/log?offset=N. The answer is the offset of the next bytes. */
export const maxLogChunkBytes = 64 * 1024;
/** `watched`: a client reads the log as it grows, so send it often. */
export const LogAnswer = z.object({ nextOffset: z.int().nonnegative(), watched: z.boolean().optional() });
export type LogAnswer = z.infer<typeof LogAnswer>;
