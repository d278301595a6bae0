import { readFileSync } from "node:fs";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { Complaint } from "./complaint.ts";

const Named = z.looseObject({ name: z.string().min(1) });

/** Loads a catalogue file into the service, and returns the number of its templates. */
export async function loadCatalogueFile(admin: AdminClient, path: string): Promise<number> {
  const catalogue = Named.safeParse(readJson(path));
  if (!catalogue.success) throw new Complaint(`${path} is not a template catalogue: it has no "name".`);
  return (await admin.loadCatalogue(catalogue.data.name, catalogue.data)).templates;
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw new Complaint(code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read (${String(code)}).`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
