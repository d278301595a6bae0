import { z } from "zod";
import { Capabilities } from "./agent.ts";
import { Phase } from "./build.ts";
import { BuilderRootName, Sha256 } from "./image-type.ts";

/** One package as rpm reports it in the image. */
export const InstalledPackage = z.object({
  name: z.string(),
  /** Absent if rpm reports "(none)". */
  epoch: z.string().optional(),
  version: z.string(),
  release: z.string(),
  arch: z.string(),
  /** As stated in the package; absent if not stated, or if reported by an older version. */
  license: z.string().max(4096).optional(),
  /** The source package that it was built from; absent if unknown, or if an older agent reports it. */
  source: z.object({ name: z.string().max(200), version: z.string().max(200) }).optional(),
  /** The units of systemd that it starts at boot; absent if there are none, or if an older agent reports it. */
  services: z.array(z.string().max(255)).max(100).optional(),
});
export type InstalledPackage = z.infer<typeof InstalledPackage>;

/** A hash of everything that determines a prepared root. The agent computes it: only it knows which parts matter. */
export const PreparedKey = Sha256;

/** Where an image was built, and from what. Its provenance contains both. */
export const BuildConditions = z.object({
  isolation: Capabilities.shape.isolation,
  /**
   * What this build used of an earlier one of the same appliance, with the key under which the agent caches it: its
   * disk, its configured root, or a root with packages alone. Absent if it started from nothing.
   */
  startedFrom: z.object({ kind: z.enum(["disk", "root", "packages"]), key: Sha256 }).optional(),
});
export type BuildConditions = z.infer<typeof BuildConditions>;

/** POST /agent/builds/:id/finish, after all artifacts are complete. Idempotent by attempt token. */
export const BuildFinished = z.object({
  /** Name of the downloadable file, made from the frozen `imageName` and the archive's extension. */
  fileName: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,220}$/),
  /** Bytes of the unpacked disk or medium. */
  rawSize: z.int().positive(),
  compressed: z.boolean(),
  /** SHA-256 of the disk in the downloadable archive; absent if there is none, or if an older agent reports it. */
  diskSha256: Sha256.optional(),
  installed: z.array(InstalledPackage),
  /** Seconds spent in each phase, in order. */
  steps: z.array(z.object({ phase: Phase, seconds: z.number().nonnegative() })),
  builder: z.string().max(100),
  /** The builder root that it was built in; absent if built with the tools of the agent's host. */
  builderRoot: z.object({ name: BuilderRootName, sha256: Sha256 }).optional(),
  /** Absent if an older agent reports it. */
  conditions: BuildConditions.optional(),
  /** How the image differs from the frozen packages; absent if it does not. */
  remark: z.string().max(500).optional(),
  /** The key of the artifact "prepared"; absent if it was not uploaded. */
  prepared: z.object({ key: PreparedKey }).optional(),
});
export type BuildFinished = z.infer<typeof BuildFinished>;

/** POST /agent/builds/:id/fail. `failed`: the user must fix the appliance. `error`: the host failed; it is retried. */
export const BuildFailed = z.object({ kind: z.enum(["failed", "error"]), reason: z.string().max(2000) });
export type BuildFailed = z.infer<typeof BuildFailed>;
