import { z } from "zod";
import { Capabilities } from "./agent.ts";
import { Arch, Firmware, ImageType, Sha256 } from "./image-type.ts";
import { FrozenKey, RepositoryTrust } from "./trust.ts";

/** The header that carries the attempt token on every call about a claimed build or testdrive. */
export const attemptHeader = "x-kiln-attempt";

/** One repository of the frozen input. `service:/…` names a repository that the Worker itself serves. */
export const FrozenRepository = z.object({
  alias: z.string().regex(/^[a-z0-9-]+$/),
  id: z.int().positive(),
  name: z.string(),
  url: z.string(),
  /** Null: nobody signs it. Absent: frozen before, or its keys have not been read yet. */
  trust: RepositoryTrust.nullable().optional(),
});
export type FrozenRepository = z.infer<typeof FrozenRepository>;

/** What a mirror may call its packages' checksums by. */
export const checksumTypes = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] as const;

/** One file that the image is made of: the agent fetches this one and no other. */
export const FrozenPackage = z.object({
  name: z.string().min(1),
  epoch: z.int().nonnegative(),
  version: z.string().min(1),
  release: z.string(),
  arch: z.string().min(1),
  /** The alias of its repository, and the file's path below that. */
  repository: z.string(),
  location: z.string().min(1),
  checksum: z.object({ type: z.enum(checksumTypes), value: z.string().regex(/^[0-9a-f]{32,128}$/) }),
  /** Bytes of the file; 0: the metadata does not say. */
  size: z.int().nonnegative(),
});
export type FrozenPackage = z.infer<typeof FrozenPackage>;

/** What the appliance is configured to beside its KIWI description, without secrets: manifests tell it. */
export const FrozenConfiguration = z.object({
  baseSystem: z.string(),
  /** Of the unpacked image, as the appliance's page says it. */
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
  /** Of the machine that the image is meant for; absent: frozen before image types told it. */
  memoryMb: z.int().positive().optional(),
  /** Whether that machine has a CD-ROM drive; absent: frozen before this was told. */
  cdrom: z.boolean().optional(),
  /** The user's script for the end of a build; absent: there is none, or it is switched off. */
  buildScript: z.string().optional(),
});
export type FrozenConfiguration = z.infer<typeof FrozenConfiguration>;

/** What an appliance may hold, so that a frozen input stays something that can be sent. */
export const frozenLimits = { files: 10_000, keys: 100, descriptionFiles: 1000, descriptionCharacters: 16 * 2 ** 20 };

/**
 * A file of the appliance itself. The agent fetches its content (GET /agent/builds/:id/contents/:blobId) and lays it beside
 * the description as `stagedContents`/BLOB; config.sh puts it in its place.
 */
export const FrozenFile = z.object({
  /** Where it stands in the image: absolute, with neither `..` nor a slash at its end. */
  path: z.string().regex(/^\/./).max(4096),
  /** The mode's bits, e.g. 0o644. */
  mode: z.int().min(0).max(0o7777),
  /** Names, or numbers as text. */
  owner: z.string().max(64),
  group: z.string().max(64),
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  blobId: z.uuid(),
});
export type FrozenFile = z.infer<typeof FrozenFile>;

/** A folder of the KIWI description. */
export const stagedContents = "root/image/kiln/contents";

/** How the KIWI description names the one repository that the agent makes of the frozen packages on its own disk. */
export const frozenSource = "repo:frozen";

/**
 * All that decides what a build contains; written to R2 before the row exists and hashed. The KIWI description names one
 * repository, `frozenSource`, since only the agent knows where it has put the packages.
 */
export const FrozenInput = z.object({
  formatVersion: z.literal(1),
  appliance: z.object({ id: z.int(), name: z.string(), version: z.string(), arch: Arch }),
  imageType: ImageType,
  /** Absent: frozen when there was only BIOS. */
  firmware: Firmware.optional(),
  /** File name of the result without its extension, e.g. "Kiosk.x86_64-0.0.1.oem". */
  imageName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/),
  repositories: z.array(FrozenRepository),
  /** What the selection resolved to: exactly these are installed. */
  packages: z.array(FrozenPackage).min(1),
  /** Names as selected. */
  selection: z.object({
    packages: z.array(
      z.object({ name: z.string(), version: z.string().optional(), repository: z.string().optional() }),
    ),
    patterns: z.array(z.string()),
  }),
  /** What stands for the selected patterns; absent: frozen before the gallery told it. */
  patterns: z
    .array(z.object({ name: z.string(), version: z.string(), release: z.string(), repository: z.string() }))
    .optional(),
  /** Texts of the KIWI description by relative path: config.xml, config.sh, and those below `root/`. */
  description: z
    .record(z.string().max(4096), z.string().max(frozenLimits.descriptionCharacters))
    .refine((files) => Object.keys(files).length <= frozenLimits.descriptionFiles),
  /** Absent: frozen before builds knew them. */
  files: z.array(FrozenFile).max(frozenLimits.files).optional(),
  /** Absent: likewise. */
  keys: z.array(FrozenKey).max(frozenLimits.keys).optional(),
  /** Absent: frozen before manifests told it. */
  configuration: FrozenConfiguration.optional(),
  /**
   * Seconds since 1970 of the last change to what is frozen: the time that the image's files get, so that the same input
   * makes the same image. Absent: frozen before.
   */
  sourceDate: z.int().nonnegative().optional(),
  /** What wrote the description: Kiln's own version. */
  writtenBy: z.string(),
});
export type FrozenInput = z.infer<typeof FrozenInput>;

/** POST /agent/builds/claim → the oldest build that fits, or null. */
export const BuildClaimRequest = z.object({ capabilities: Capabilities });
export const BuildClaim = z.object({
  buildId: z.int().positive(),
  attempt: z.int().positive(),
  /** Goes into `attemptHeader`; a late attempt's token earns 410. */
  token: z.string(),
  /** Wall-clock limit of the whole build, ms from the claim. */
  timeLimitMs: z.int().positive(),
  input: FrozenInput,
  /** Seconds per phase of the latest builds that are most like this one, newest first: the agent's source for percent. */
  earlierPhases: z.array(z.record(z.string(), z.number())),
  /**
   * Other formats of this version are there or under way: their prepared root is worth asking for, and worth giving back. Absent:
   * it is not.
   */
  sharesRoot: z.boolean().optional(),
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
  /** 0..99; 100 is said by finish alone. */
  percent: z.int().min(0).max(99),
  /** One line for users, e.g. "Installing software (12/48) busybox". */
  message: z.string().max(200),
});
export type Heartbeat = z.infer<typeof Heartbeat>;
/** `cancel` true: stop and answer nothing more. */
export const HeartbeatAnswer = z.object({ cancel: z.boolean() });

/** PUT /agent/builds/:id/log?offset=N, body: the bytes from there (at most this many); answers where the next go. */
export const maxLogChunkBytes = 64 * 1024;
export const LogAnswer = z.object({ nextOffset: z.int().nonnegative() });

/** One package as rpm reports it in the image. */
export const InstalledPackage = z.object({
  name: z.string(),
  /** Absent where rpm says "(none)". */
  epoch: z.string().optional(),
  version: z.string(),
  release: z.string(),
  arch: z.string(),
  /** As the package says it; absent: it says none, or the build is from before it was reported. */
  license: z.string().max(4096).optional(),
});
export type InstalledPackage = z.infer<typeof InstalledPackage>;

/** What decides about a prepared root, hashed by the agent: it alone knows which parts of an input that is. */
export const PreparedKey = Sha256;

/** POST /agent/builds/:id/finish, after all artifacts are complete. Idempotent by attempt token. */
export const BuildFinished = z.object({
  /** Name of the downloadable file, made from the frozen `imageName` and the archive's extension. */
  fileName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,220}$/),
  /** Bytes of the disk or medium itself, unpacked. */
  rawSize: z.int().positive(),
  compressed: z.boolean(),
  installed: z.array(InstalledPackage),
  /** Seconds spent in each phase, in order. */
  steps: z.array(z.object({ phase: Phase, seconds: z.number().nonnegative() })),
  builder: z.string().max(100),
  /** In what the image differs from the frozen packages; absent: in nothing. */
  remark: z.string().max(500).optional(),
  /** What the artifact "prepared" is known by; absent: it was not uploaded. */
  prepared: z.object({ key: PreparedKey }).optional(),
});
export type BuildFinished = z.infer<typeof BuildFinished>;

/** POST /agent/builds/:id/fail. `failed`: the appliance cannot be built, and the user can fix it. `error`: the host's fault, retried elsewhere. */
export const BuildFailed = z.object({ kind: z.enum(["failed", "error"]), reason: z.string().max(2000) });
export type BuildFailed = z.infer<typeof BuildFailed>;

/** What an attempt has to upload: the image, and its file store (file-store.ts). */
export const artifactNames = ["image", "files", "files-index"] as const;
export type NeededArtifact = (typeof artifactNames)[number];
/**
 * Name of an artifact of a build inside its upload routes. "prepared" may be missing: a root, before anything of an image type
 * got into it, which agents get back by GET /agent/builds/:id/prepared/:key, with its SHA-256 in `partDigestHeader`.
 */
export const ArtifactName = z.enum([...artifactNames, "prepared"]);
export type ArtifactName = z.infer<typeof ArtifactName>;
