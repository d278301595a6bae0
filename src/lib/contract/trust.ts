import { z } from "zod";
import { Sha256 } from "./image-type.ts";

/** A public key in ASCII armour, which the image's rpm must trust or which signs a repository. */
export const FrozenKey = z.object({
  name: z.string().max(255),
  fingerprint: z.string().regex(/^[0-9a-f]{32,64}$/),
  armour: z.string().max(2 ** 20),
});
export type FrozenKey = z.infer<typeof FrozenKey>;

/** The maximum number of keys of one repository. */
const maxRepositoryKeys = 24;

/** The facts that an agent checks a signed repository against. */
export const RepositoryTrust = z.object({
  /** The path of its index, and the SHA-256 of the index that the packages were chosen from. */
  index: z.union([z.enum(["repodata/repomd.xml", "content"]), z.string().regex(/^(dists\/[^\s]{1,200}\/)?InRelease$/)]),
  indexSha256: Sha256,
  /** Fingerprint of the key that signed that index, as found by the import. */
  signedBy: z.string().regex(/^[0-9a-f]{32,64}$/),
  /**
   * The keys that may sign its index. They and the appliance's own keys may sign its packages. Packages of deb are not
   * signed: the index is, and it vouches for their checksums.
   */
  keys: z.array(FrozenKey).min(1).max(maxRepositoryKeys),
});
export type RepositoryTrust = z.infer<typeof RepositoryTrust>;
