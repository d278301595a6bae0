import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { readManifest } from "./archive.ts";

/** The description of an archive. */
export const Manifest = z.object({
  format: z.literal(1),
  at: z.string(),
  /** Names of the database's migrations. */
  migrations: z.array(z.string()),
  appliances: z.number(),
  builds: z.number(),
  /** The number of files in the bucket. */
  blobs: z.number(),
});
export type Manifest = z.infer<typeof Manifest>;

export async function manifestOf(file: string): Promise<Manifest> {
  try {
    return Manifest.parse(JSON.parse(await readManifest(file)));
  } catch {
    throw new Complaint(`${file} is not a backup that this version of Kiln can read.`);
  }
}
