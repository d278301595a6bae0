import type { Person } from "./person.ts";

/** A file that a testdrive's machine has changed. */
export interface ModifiedFile {
  change: string;
  path: string;
  permissions: string;
  owner: string;
  difference?: string;
}

/** Lists the changes in a testdrive at that path and below. */
export async function modifiedIn({ rest }: Person, { id }: { id: string }, path: string): Promise<ModifiedFile[]> {
  const { modified_files: shown } = await rest.call("GET", `/testdrives/${id}/modified_files`, { path });
  return [shown.files.file ?? []].flat();
}
