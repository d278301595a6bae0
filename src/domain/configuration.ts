import { z } from "zod";

/** What an appliance is configured to, beside its software. The configuration calls widen it; builds read it. */
export const Configuration = z.object({
  /** Clear text, as the API shows them to their owner; frozen inputs carry hashes only. */
  users: z.array(
    z.object({
      uid: z.int().nonnegative(),
      name: z.string().min(1),
      password: z.string(),
      group: z.string().min(1),
      shell: z.string().min(1),
      homedir: z.string().min(1),
    }),
  ),
  locale: z.object({ keyboardLayout: z.string(), language: z.string(), timezone: z.string() }),
  settings: z.object({
    /** Megabytes of memory of a testdrive. */
    memorySizeMb: z.int().positive(),
    /** Size of the disk of disk images. */
    diskSizeMb: z.int().positive(),
  }),
});
export type Configuration = z.infer<typeof Configuration>;
