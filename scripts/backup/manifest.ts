import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { readManifest } from "./archive.ts";

/** What an archive says of itself. */
export const Manifest = z.object({
  format: z.literal(1),
  at: z.string(),
  /** Names of the database's migrations. */
  migrations: z.array(z.string()),
  appliances: z.number(),
  builds: z.number(),
  /** Files of the bucket. */
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
