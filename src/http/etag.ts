import { createHash } from "node:crypto";

/** Validators for documents that are generated for each request (RFC 9110 §8.8.3, §13.1). */

/** A strong validator, in quotes: the same bytes give the same tag. */
export const etagOf = (body: string): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;

/** Whether `If-Match` names a different state. A weak tag never matches. Without the header, every state matches. */
export const failsIfMatch = (header: string | undefined, etag: string): boolean =>
  header !== undefined && !tagsOf(header).some((tag) => tag === "*" || tag === etag);

/** Whether `If-None-Match` names this state, which means that the client already has it. */
export const hitsIfNoneMatch = (header: string | null | undefined, etag: string): boolean =>
  typeof header === "string" && tagsOf(header).some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag);

const tagsOf = (header: string): string[] => header.split(",").map((tag) => tag.trim());
