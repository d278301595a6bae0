import { z } from "zod";
import { Arch, ImageType } from "./image-type.ts";

/** While an agent builds. Its lease outlives two lost heartbeats; then the build goes to another agent. */
export const heartbeatEveryMs = 10_000;
export const buildLeaseMs = 30_000;

/** What a host can do, as its doctor found it. The Worker hands out only work that fits. */
export const Capabilities = z.object({
  arches: z.array(Arch),
  imageTypes: z.array(ImageType),
  /** Why it can not do the others: by type or architecture, the names of what is missing there. */
  lacking: z.partialRecord(z.union([ImageType, Arch]), z.string().max(300)).optional(),
  /** Why it cannot divide disks into volumes (LVM): the names of what is missing there. Absent: it can, or was never asked. */
  noLvm: z.string().min(1).max(300).optional(),
  /** Why it cannot make images that boot by UEFI: by type, likewise. */
  noEfi: z.partialRecord(ImageType, z.string().min(1).max(300)).optional(),
  /** "vm": each build in a guest of its own. "none": bare on the host, as root, when the agent's operator said so. */
  isolation: z.enum(["vm", "none"]),
  testdrives: z.boolean(),
  /** In a claim: false while too little of the host's disk is free for a build; the answer is `null` then. */
  hasRoom: z.boolean().optional(),
  /** KIWI's version, e.g. "9.24.56"; frozen into each build. */
  builder: z.string().max(100),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** POST /agent/hello: the first words of a starting agent; leases its token still holds are ended by it. */
export const Hello = z.object({ capabilities: Capabilities });
export type Hello = z.infer<typeof Hello>;

export const HelloAnswer = z.object({
  agentId: z.int().positive(),
  name: z.string(),
  endedLeases: z.int().nonnegative(),
});
export type HelloAnswer = z.infer<typeof HelloAnswer>;

/** Worker → agent on the socket of GET /agent/socket. Losing one costs only latency. */
export const Poke = z.discriminatedUnion("type", [
  z.object({ type: z.literal("poke") }),
  z.object({ type: z.literal("cancel"), buildId: z.int().positive() }),
]);
export type Poke = z.infer<typeof Poke>;
