import { z } from "zod";
import { ClaimOnce, Incarnation } from "./agent.ts";
import { Check, maxChecks } from "./checks.ts";
import { GuestRequest } from "./guest-web.ts";
import { Arch, ImageType, Machines, Sha256 } from "./image-type.ts";
import { RequestId } from "./request-id.ts";

/**
 * POST /agent/testdrives/claim. The agent reserves its public VNC port before it claims, because the answer to the
 * client's POST contains host and port. `vnc` is null for an agent without a public address.
 */
export const TestdriveClaimRequest = z.object({
  vnc: z.object({ host: z.string().min(1).max(255), port: z.int().min(1).max(65_535) }).nullable(),
  /** Absent from older agents. */
  incarnation: Incarnation.optional(),
  /** Whether the agent can check an image. Absent from older agents, which get only testdrives of people. */
  canCheck: z.literal(true).optional(),
  /** Whether its checks can run commands in the machine. Absent from older agents. */
  canRunCommands: z.literal(true).optional(),
  /** Whether it can compare the machine's screen with an earlier one. Absent from older agents. */
  canCompareScreens: z.literal(true).optional(),
  machines: Machines,
  ...ClaimOnce.shape,
});
export type TestdriveClaimRequest = z.infer<typeof TestdriveClaimRequest>;

/** How long an agent uses the saved state of a machine, which continues with its old clock. */
export const snapshotMs = 24 * 60 * 60_000;

/** The maximum size of each text of a seed, in bytes of UTF-8. Amazon's cloud accepts 16 KiB of user data. */
export const maxSeedBytes = { userData: 32 * 1024, metaData: 16 * 1024, networkConfig: 16 * 1024 };

/**
 * The data that cloud-init or Ignition reads at the first boot of a testdrive. It is secret, so it must not be stored
 * or logged.
 */
export const Seed = z.object({
  userData: z.string().max(maxSeedBytes.userData).optional(),
  metaData: z.string().max(maxSeedBytes.metaData).optional(),
  networkConfig: z.string().max(maxSeedBytes.networkConfig).optional(),
});
export type Seed = z.infer<typeof Seed>;

/** Whether user data is for Ignition. No header of cloud-init begins with a brace. */
export const isIgnitionConfig = (userData: string): boolean => userData.trimStart().startsWith("{");

export const TestdriveClaim = z.object({
  testdriveId: z.int().positive(),
  /** Sent in `attemptHeader` when opening the session's sockets. */
  token: z.string(),
  /** VNC password, at most 8 characters (RFB's limit). */
  password: z.string().length(8),
  buildId: z.int().positive(),
  imageType: ImageType,
  /** Absent from older Workers. */
  arch: Arch.optional(),
  memoryMb: z.int().positive(),
  /** A network card with a forwarded web server port and no outgoing connections. */
  hasNetwork: z.boolean().optional(),
  /** Whether the image boots with Secure Boot on, and so must the machine. Absent from older Workers. */
  hasSecureBoot: z.boolean().optional(),
  /** The agent gives it to the machine as a disk, or to Ignition through QEMU's firmware interface. */
  seed: Seed.optional(),
  /**
   * Boot the image once more and send its screen to POST /agent/testdrives/:id/screen, for the gallery. Absent from
   * older Workers.
   */
  wantsScreen: z.boolean().optional(),
  /**
   * Check these in the booted machine, send the results to POST /agent/testdrives/:id/checks, and end the session. No
   * one watches it.
   */
  checks: z.array(Check).min(1).max(maxChecks).optional(),
  /**
   * Continue the machine that this agent has kept when these checks ended (CheckReport). Otherwise the machine boots.
   * Absent from older Workers.
   */
  continuesAfter: z.array(Check).min(1).max(maxChecks).optional(),
  requestId: RequestId.optional(),
  image: z.object({
    /** GET /agent/testdrives/:id/image, with Range. */
    fileName: z.string(),
    size: z.int().positive(),
    sha256: Sha256,
    rawSize: z.int().positive(),
    compressed: z.boolean(),
  }),
});
export type TestdriveClaim = z.infer<typeof TestdriveClaim>;
export const TestdriveClaimAnswer = z.object({ testdrive: TestdriveClaim.nullable() });

/** The maximum size of a picture of a screen, in bytes. QEMU's usual 720 × 400 takes several kilobytes. */
export const maxScreenBytes = 1024 * 1024;

/** Worker → agent on the control socket, GET /agent/testdrives/:id/control. */
export const TestdriveOrder = z.discriminatedUnion("type", [
  /** Open GET /agent/testdrives/:id/viewers/:viewer and join it to a new connection to QEMU's Unix socket. */
  z.object({ type: z.literal("viewer"), viewer: z.string() }),
  z.object({ type: z.literal("stop"), reason: z.string() }),
  /**
   * Send the request to the guest's web server, and POST its answer to /agent/testdrives/:id/visits/:visit/answer. If
   * the guest opens a WebSocket, join it to GET /agent/testdrives/:id/visits/:visit/socket instead.
   */
  z.object({ type: z.literal("visit"), visit: z.string(), request: GuestRequest }),
]);
export type TestdriveOrder = z.infer<typeof TestdriveOrder>;

/**
 * How often an agent reports a running session. The session ends after the lease if the Worker gets no report or the
 * agent has no socket.
 */
export const aliveEveryMs = 10_000;
export const sessionLeaseMs = 30_000;

/** Agent → Worker on the control socket. */
export const TestdriveReport = z.discriminatedUnion("type", [
  /** The agent's progress in preparing the session; after "ready", what happened to the machine. */
  z.object({ type: z.literal("preparing"), message: z.string().max(200) }),
  z.object({ type: z.literal("ready") }),
  /** The current number of clients at the TCP address (QMP's VNC_INITIALIZED and VNC_DISCONNECTED). */
  z.object({ type: z.literal("tcp_viewers"), count: z.int().nonnegative() }),
  z.object({ type: z.literal("stopped"), reason: z.string().max(500) }),
  z.object({ type: z.literal("alive") }),
]);
export type TestdriveReport = z.infer<typeof TestdriveReport>;

/**
 * Flow control of a viewer's pair of sockets. The page requests `creditProtocol` and sends `{"credit":bytes}` as text
 * when it has consumed that many bytes. The agent has at most `creditWindowBytes` in transit. Binary frames are RFB
 * bytes. Viewers without this protocol are limited by RFB itself, which sends an update only on request.
 */
export const creditProtocol = "kiln.credit";
export const creditWindowBytes = 1024 * 1024;
export const maxFrameBytes = 64 * 1024;
export const Credit = z.object({ credit: z.int().positive() });
