import { z } from "zod";

/** One request to the web server of a testdrive's guest, with filtered headers. */
export const GuestRequest = z.object({
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
  /** Path and query, unchanged. */
  target: z.string().startsWith("/").max(4096),
  /** Lower-case names. */
  headers: z.record(z.string(), z.string()),
  hasBody: z.boolean(),
  /** The visitor requests a WebSocket; the headers then include `sec-websocket-protocol`. */
  isSocket: z.literal(true).optional(),
});
export type GuestRequest = z.infer<typeof GuestRequest>;

/** The allowed characters of a header (RFC 9110 §5.5). */
const HeaderValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);

/** The head of the guest's answer. Its body is the body of POST /agent/testdrives/:id/visits/:visit/answer. */
export const GuestAnswer = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), HeaderValue),
  /** The guest has not answered, so this is the agent's explanation. */
  isExcuse: z.literal(true).optional(),
});
export type GuestAnswer = z.infer<typeof GuestAnswer>;

/** Statuses whose answers have no body (RFC 9110 §15). */
export const isBodyless = (status: number): boolean => [204, 205, 304].includes(status);

/** The head of a request or an answer, as percent-encoded JSON, because a guest's headers may contain any bytes. */
export const guestHeadHeader = "x-kiln-guest-head";
export const maxGuestHeadBytes = 16 * 1024;
export const maxGuestRequestBytes = 16 * 1024 * 1024;
export const maxGuestAnswerBytes = 64 * 1024 * 1024;
/** Time limit from a visitor's request to the end of the answer. */
export const maxVisitMs = 5 * 60_000;

export const guestHead = (head: GuestRequest | GuestAnswer): string => encodeURIComponent(JSON.stringify(head));

/** Undefined if it is missing, damaged or not a valid head. */
export function readGuestHead<T>(schema: z.ZodType<T>, header: string | null): T | undefined {
  if (header === null || header.length > maxGuestHeadBytes) return undefined;
  try {
    return schema.safeParse(JSON.parse(decodeURIComponent(header))).data;
  } catch {
    return undefined;
  }
}

/** The only headers of a guest that a visitor gets. Cookies and the guest's own policies are not among them. */
export const shownGuestHeaders = [
  "accept-ranges",
  "allow",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "location",
  "retry-after",
  "vary",
] as const;

/** The guest's own address, from QEMU's DHCP. Its redirects may not name any other. */
export const guestAddress = "10.0.2.15";
/** The guest's port that visitors of a testdrive reach. */
export const visitedPort = 80;

/**
 * Whether a WebSocket may be closed with this code. RFC 6455 §7.4: 1004, 1005, 1006 and 1015 only describe an end that
 * no side has sent.
 */
export const isSendableCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);
