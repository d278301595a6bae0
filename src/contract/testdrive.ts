import { z } from "zod";
import { GuestRequest } from "./guest-web.ts";
import { ImageType, Sha256 } from "./image-type.ts";

/**
 * POST /agent/testdrives/claim. The agent has already reserved its public VNC port when it asks, because host and port
 * must stand in the answer to the client's POST. `vnc: null`: an agent without a public address.
 */
export const TestdriveClaimRequest = z.object({
  vnc: z.object({ host: z.string().min(1).max(255), port: z.int().min(1).max(65_535) }).nullable(),
});
export type TestdriveClaimRequest = z.infer<typeof TestdriveClaimRequest>;

export const TestdriveClaim = z.object({
  testdriveId: z.int().positive(),
  /** Goes into `attemptHeader` of the session's sockets. */
  token: z.string(),
  /** VNC password, at most 8 characters (RFB's limit). */
  password: z.string().length(8),
  buildId: z.int().positive(),
  imageType: ImageType,
  memoryMb: z.int().positive(),
  /** A network card with a web server's port forwarded, and no way out. */
  hasNetwork: z.boolean().optional(),
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

/** Worker → agent on the control socket, GET /agent/testdrives/:id/control. */
export const TestdriveOrder = z.discriminatedUnion("type", [
  /** Dial GET /agent/testdrives/:id/viewers/:viewer and join it to a fresh connection on QEMU's unix socket. */
  z.object({ type: z.literal("viewer"), viewer: z.string() }),
  z.object({ type: z.literal("stop"), reason: z.string() }),
  /** Ask the guest's web server, and POST what it says to /agent/testdrives/:id/visits/:visit/answer. */
  z.object({ type: z.literal("visit"), visit: z.string(), request: GuestRequest }),
]);
export type TestdriveOrder = z.infer<typeof TestdriveOrder>;

/** While an agent runs a session. The session ends after the lease: at the Worker without a report, at the agent without a socket. */
export const aliveEveryMs = 10_000;
export const sessionLeaseMs = 30_000;

/** Agent → Worker on the control socket. */
export const TestdriveReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("preparing"), message: z.string().max(200) }),
  z.object({ type: z.literal("ready") }),
  /** How many clients the TCP address has now (QMP's VNC_INITIALIZED and VNC_DISCONNECTED). */
  z.object({ type: z.literal("tcp_viewers"), count: z.int().nonnegative() }),
  z.object({ type: z.literal("stopped"), reason: z.string().max(500) }),
  z.object({ type: z.literal("alive") }),
]);
export type TestdriveReport = z.infer<typeof TestdriveReport>;

/**
 * Flow control of a viewer's pair of sockets. The page asks for `creditProtocol` and sends `{"credit":bytes}` as text
 * when it has consumed that much; the agent has at most `creditWindowBytes` under way. Binary frames are RFB bytes.
 * Viewers that do not ask for it are bounded by RFB itself, which sends an update only when asked for one.
 */
export const creditProtocol = "kiln.credit";
export const creditWindowBytes = 1024 * 1024;
export const maxFrameBytes = 64 * 1024;
export const Credit = z.object({ credit: z.int().positive() });
