import { z } from "zod";

/** A public key in ASCII armour: one that the image's rpm shall trust, or one that a repository is signed with. */
export const FrozenKey = z.object({
  name: z.string().max(255),
  fingerprint: z.string().regex(/^[0-9a-f]{32,64}$/),
  armour: z.string().max(2 ** 20),
});
export type FrozenKey = z.infer<typeof FrozenKey>;

/** Most keys of one repository. */
export const maxRepositoryKeys = 24;

/** What the agent holds a signed repository to. */
export const RepositoryTrust = z.object({
  /** Where its index lies below it, and the SHA-256 of the one that the packages were chosen from. */
  index: z.enum(["repodata/repomd.xml", "content"]),
  indexSha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Fingerprint of the key that signed that index, as the import found it. */
  signedBy: z.string().regex(/^[0-9a-f]{32,64}$/),
  /** All that may sign its index and, with the appliance's own, its packages. */
  keys: z.array(FrozenKey).min(1).max(maxRepositoryKeys),
});
export type RepositoryTrust = z.infer<typeof RepositoryTrust>;
