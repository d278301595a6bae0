import { z } from "zod";
import { Sha256 } from "./image-type.ts";

/**
 * Size of every part but the last. R2 requires equal parts of at least 5 MiB, at most 10,000 of them. The size is below
 * every plan's body limit, and small because nothing else happens while the last part is sent.
 */
export const partBytes = 16 * 1024 * 1024;

/** The part's SHA-256 in PUT …/artifacts/:name/parts/:n (n from 1). A part with a different SHA-256 is not recorded. */
export const partDigestHeader = "x-kiln-sha256";

/** The digests of a whole file. The Worker cannot check them without reading the object again, so it trusts the agent. */
const FileDigests = z.object({
  md5: z.string().regex(/^[0-9a-f]{32}$/),
  sha1: z.string().regex(/^[0-9a-f]{40}$/),
  sha256: Sha256,
});

/**
 * POST …/artifacts/:name opens or resumes the upload. The answer lists the recorded parts. Without `size`, the file is
 * still being written, and `complete` gives its size. If `digests` show that another format of this version has the same
 * file store, the upload is complete at once.
 */
export const OpenUpload = z.object({
  size: z.int().positive().optional(),
  digests: FileDigests.optional(),
  fileName: z.string().max(255),
});
export type OpenUpload = z.infer<typeof OpenUpload>;
export const UploadState = z.object({
  partBytes: z.int().positive(),
  parts: z.array(z.object({ number: z.int().positive(), sha256: Sha256, size: z.int().positive() })),
  complete: z.boolean(),
});
export type UploadState = z.infer<typeof UploadState>;

/** POST …/artifacts/:name/complete. `partsDigest` is the SHA-256 of the parts' hex digests joined by "\n". */
export const CompleteUpload = FileDigests.extend({ size: z.int().positive(), partsDigest: Sha256 });
export type CompleteUpload = z.infer<typeof CompleteUpload>;

/** The artifacts that an attempt must upload: the image and its file store (file-store.ts). */
export const artifactNames = ["image", "files", "files-index"] as const;
export type NeededArtifact = (typeof artifactNames)[number];
/**
 * Name of an artifact in the upload routes of a build. Two are optional. "prepared" is a root without anything specific
 * to an image type. Agents download it from GET /agent/builds/:id/prepared/:key, with its SHA-256 in
 * `partDigestHeader`. "delta" makes the disk from that of an earlier image (lib/delta). GET
 * /agent/builds/:id/earlier-delta answers with that of the earlier image.
 */
export const optionalArtifacts = ["prepared", "delta"] as const;
export type OptionalArtifact = (typeof optionalArtifacts)[number];
export const ArtifactName = z.enum([...artifactNames, ...optionalArtifacts]);
export type ArtifactName = z.infer<typeof ArtifactName>;
