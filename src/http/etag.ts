import { createHash } from "node:crypto";

/** Validators of documents, which are written for every request (RFC 9110 §8.8.3, §13.1). */

/** A strong one, in quotes: the same bytes, the same tag. */
export const etagOf = (body: string): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;

/** `If-Match` names another state than this one; a weak tag never matches. Without the header everything does. */
export const failsIfMatch = (header: string | undefined, etag: string): boolean =>
  header !== undefined && !tagsOf(header).some((tag) => tag === "*" || tag === etag);

/** `If-None-Match` names this very state, so that the client has it already. */
export const hitsIfNoneMatch = (header: string | null | undefined, etag: string): boolean =>
  typeof header === "string" && tagsOf(header).some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag);

const tagsOf = (header: string): string[] => header.split(",").map((tag) => tag.trim());
