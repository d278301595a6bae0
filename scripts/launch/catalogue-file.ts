import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { Complaint } from "./complaint.ts";
import { readText } from "./given-file.ts";

const Named = z.looseObject({ name: z.string().min(1) });

/** Loads a catalogue file into the service, and returns the number of its templates. */
export async function loadCatalogueFile(admin: AdminClient, path: string): Promise<number> {
  const catalogue = readCatalogue(path);
  return (await admin.loadCatalogue(catalogue.name, catalogue)).templates;
}

/** Reads a catalogue file. The service checks its content. */
export function readCatalogue(path: string): z.infer<typeof Named> {
  const catalogue = Named.safeParse(readJson(path));
  if (!catalogue.success) throw new Complaint(`${path} is not a template catalogue: it has no "name".`);
  return catalogue.data;
}

function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
