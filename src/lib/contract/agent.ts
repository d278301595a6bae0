import { z } from "zod";
import { fileSystems } from "./file-systems.ts";
import { Arch, BuilderRootName, ImageType, Machines, PackageType, Sha256 } from "./image-type.ts";
import { RequestId } from "./request-id.ts";

/** How often an agent reports a build. The lease survives two lost heartbeats; then another agent gets the build. */
export const heartbeatEveryMs = 10_000;
export const buildLeaseMs = 30_000;

/** The abilities of a host in one of its builder roots. */
const RootAbilities = z.object({
  name: BuilderRootName,
  sha256: Sha256,
  /** KIWI's version in the builder root. */
  builder: z.string().max(100),
  imageTypes: z.array(ImageType),
  packageTypes: z.array(PackageType),
});
export type RootAbilities = z.infer<typeof RootAbilities>;

/** The abilities of a host, as its doctor found them. The Worker gives an agent only work that it can do. */
export const Capabilities = z.object({
  arches: z.array(Arch),
  imageTypes: z.array(ImageType),
  /** Why it cannot build the others: the names of the missing tools, by type or architecture. */
  lacking: z.partialRecord(z.union([ImageType, Arch]), z.string().max(300)).optional(),
  /** The package types of the systems that it builds; absent if only rpm. */
  packageTypes: z.array(PackageType).optional(),
  /** Why it cannot build systems of deb packages: the names of the missing tools. */
  noDeb: z.string().min(1).max(300).optional(),
  /** Why it cannot create disks with LVM volumes: the names of the missing tools. Absent if it can, or if unknown. */
  noLvm: z.string().min(1).max(300).optional(),
  /** Why it cannot create images that boot with UEFI: the names of the missing tools, by type. */
  noEfi: z.partialRecord(ImageType, z.string().min(1).max(300)).optional(),
  /** The file systems that it cannot make on a disk, with the names of the missing tools. */
  noFileSystem: z.partialRecord(z.enum(fileSystems), z.string().min(1).max(300)).optional(),
  /** "vm": each build in its own guest. "none": directly on the host, as root, if the agent's operator chose so. */
  isolation: z.enum(["vm", "none"]),
  testdrives: z.boolean(),
  machines: Machines,
  /** In a claim, false while the host has too little free disk space for a build. The answer is then `null`. */
  hasRoom: z.boolean().optional(),
  /** The agent supports rebuilds: it makes an image only to compare it. Absent from older agents. */
  rebuilds: z.literal(true).optional(),
  /** KIWI's version, e.g. "9.24.56"; frozen into each build. */
  builder: z.string().max(100),
  /**
   * Its builder roots, for base systems that name one; absent if it has none. All other builds run where the agent's
   * operator chose.
   */
  roots: z.array(RootAbilities).max(20).optional(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/**
 * One process of an agent. Only one agent works in a state directory at a time, so a later process of the same host
 * proves that the earlier one has ended. Processes on different hosts with the same token prove nothing about each
 * other.
 */
export const Incarnation = z.object({
  /** A hash of the running kernel and of the agent's state directory. */
  host: z.string().regex(/^[0-9a-f]{32}$/),
  /** When the process started, in microseconds since the host's own. */
  start: z.int().nonnegative(),
});
export type Incarnation = z.infer<typeof Incarnation>;

/** The part of a claim that makes it repeatable after its answer was lost. */
export const ClaimOnce = z.object({
  /** Random, one for each claim. A repeated claim gets the same answer. Absent from older agents. */
  nonce: z.uuid().optional(),
  /** The answer to the same claim was lost. */
  isRepeated: z.literal(true).optional(),
});
export type ClaimOnce = z.infer<typeof ClaimOnce>;

/**
 * POST /agent/hello: sent by an agent when it starts. Ends the leases that earlier processes of this host have taken,
 * and those that were taken without an incarnation. Older agents send no incarnation.
 */
export const Hello = z.object({
  capabilities: Capabilities,
  protocol: z.int().positive().optional(),
  incarnation: Incarnation.optional(),
});
export type Hello = z.infer<typeof Hello>;

export const HelloAnswer = z.object({
  agentId: z.int().positive(),
  name: z.string(),
  endedLeases: z.int().nonnegative(),
  /** How much work another host holds with the same token. Absent if there is none. */
  elsewhere: z.int().positive().optional(),
  protocol: z.int().positive().optional(),
});
export type HelloAnswer = z.infer<typeof HelloAnswer>;

/** A number of builds, and a number of testdrives. */
const Slots = z.object({ builds: z.int().nonnegative(), testdrives: z.int().nonnegative() });

/**
 * Agent → Worker on the same socket: immediately when `free` or `can` has changed, and at most once a minute when the
 * rest has. Older agents send neither `free` nor `can`, and still older ones no report.
 */
export const AgentReport = z.object({
  type: z.literal("report"),
  /** The load of all processors in the last minute, in percent; more than 100 means that work is waiting for them. */
  load: z.number().min(0).max(100_000),
  /** Free space on its work disk. */
  freeGb: z.number().min(0).max(1e9),
  /** How many builds and testdrives it runs at a time. */
  slots: Slots,
  /** How many more it would take now. */
  free: Slots.optional(),
  /** The current abilities of the agent. */
  can: Capabilities.optional(),
});
export type AgentReport = z.infer<typeof AgentReport>;

/** Worker → agent on the socket of GET /agent/socket. A lost message only causes a delay. */
export const AgentNotice = z.discriminatedUnion("type", [
  /** Look for work of this kind, or of both kinds if there is none. */
  z.object({ type: z.literal("wake"), kind: z.enum(["build", "testdrive"]).optional() }),
  z.object({ type: z.literal("cancel"), buildId: z.int().positive() }),
]);
export type AgentNotice = z.infer<typeof AgentNotice>;

/**
 * A header of the answer that opens that socket: when the socket is lost, the agent dials again at a random moment
 * within that many seconds, because all other agents may have lost theirs, too.
 */
export const redialHeader = "x-kiln-redial-seconds";

/**
 * A message in the queue. It only wakes agents up: an agent claims the next work that it can do, not this id. The Build
 * or Testdrive object has the true state, so a stale or repeated message is harmless.
 */
export const Job = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("build"), buildId: z.int().positive(), requestId: RequestId.optional() }),
  z.object({ kind: z.literal("testdrive"), testdriveId: z.int().positive(), requestId: RequestId.optional() }),
]);
export type Job = z.infer<typeof Job>;
