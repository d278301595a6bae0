import { z } from "zod";
import { Sha256 } from "./image-type.ts";

/**
 * All parts but the last have this size: R2 wants equal parts, at least 5 MiB each and 10,000 at most, and every plan's body limit is
 * above it. Small, since the last part is sent when nothing else is left to do.
 */
export const partBytes = 16 * 1024 * 1024;

/** PUT …/artifacts/:name/parts/:n (n from 1) announces the part's SHA-256 here; a part with another one is not recorded. */
export const partDigestHeader = "x-kiln-sha256";

/**
 * POST …/artifacts/:name opens the upload or resumes it: the answer lists what is already recorded. Without `size` the file is
 * still being written: how large it is, `complete` says.
 */
export const OpenUpload = z.object({ size: z.int().positive().optional(), fileName: z.string().max(255) });
export const UploadState = z.object({
  partBytes: z.int().positive(),
  parts: z.array(z.object({ number: z.int().positive(), sha256: Sha256, size: z.int().positive() })),
  complete: z.boolean(),
});
export type UploadState = z.infer<typeof UploadState>;

/**
 * POST …/artifacts/:name/complete. `partsDigest` is the SHA-256 over the hex digests of the parts joined by "\n"; the
 * three whole-file digests are the agent's statement, which the Worker cannot check without reading the object again.
 */
export const CompleteUpload = z.object({
  size: z.int().positive(),
  partsDigest: Sha256,
  md5: z.string().regex(/^[0-9a-f]{32}$/),
  sha1: z.string().regex(/^[0-9a-f]{40}$/),
  sha256: Sha256,
});
export type CompleteUpload = z.infer<typeof CompleteUpload>;
