import { z } from "zod";

/** Whether the service itself has the files of a repository with this address. Other addresses are those of mirrors. */
export const isOwnRepository = (url: string): boolean => url.startsWith("service:");

/** Bytes of each piece of a package but the last. It is well below the limit of a request body at Cloudflare's edge. */
export const pieceBytes = 64 * 2 ** 20;
const maxPieces = 64;

/**
 * GET /agent/builds/:id/stored-packages: packages of other servers that the build was frozen with. The service stores
 * their files until no build needs them, because a mirror may drop them. Those without `pieces` are missing: the agent
 * that has fetched one sends it, PUT …/stored-packages/:packageId/:piece for each piece (from 1), with its SHA-256 in
 * `partDigestHeader`, and then POST …/stored-packages/:packageId. It reads the pieces of others by GET.
 */
export const StoredPackage = z.object({
  id: z.int().positive(),
  /** `FrozenRepository.id` and `TYPE:VALUE` of the checksum of a frozen package. */
  repositoryId: z.int().positive(),
  checksum: z.string(),
  /** Absent if the service does not have it. */
  pieces: z.int().min(1).max(maxPieces).optional(),
});
export type StoredPackage = z.infer<typeof StoredPackage>;
export const StoredPackages = z.object({ packages: z.array(StoredPackage) });

export const CompletePackage = z.object({ pieces: z.int().min(1).max(maxPieces) });
/** `stored` is false if the service has reached the operator's limit of stored packages. */
export const CompletePackageAnswer = z.object({ stored: z.boolean() });

export const storedChecksum = ({ type, value }: { type: string; value: string }): string => `${type}:${value}`;
