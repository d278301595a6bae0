import { z } from "zod";
import { repositoryPurposes } from "#model/catalogue";

/** The repository with the newest version of a package. */
export const UpdateSource = z.object({
  id: z.int(),
  name: z.string(),
  priority: z.int(),
  purpose: z.enum(repositoryPurposes).nullable(),
});
export type UpdateSource = z.infer<typeof UpdateSource>;

/** An installed package, and the newer version that a repository has. */
export const PackageUpdate = z.object({
  name: z.string(),
  arch: z.string(),
  /** The version with its epoch and its release. */
  installed: z.string(),
  /** The newest version. */
  available: z.string(),
  /** Whether a security repository has a newer version than the installed one: the newest, or one in between. */
  isSecurity: z.boolean(),
  repository: UpdateSource,
});
export type PackageUpdate = z.infer<typeof PackageUpdate>;

/** The result of comparing an image with the repositories of its appliance. */
export const ImageUpdates = z.object({
  /** The digest of the contents of these repositories. */
  contents: z.string(),
  lookedAt: z.int(),
  /** Sorted by name. */
  updates: z.array(PackageUpdate),
  /** How many installed packages no repository has, in any version. */
  unlisted: z.int(),
});
export type ImageUpdates = z.infer<typeof ImageUpdates>;
