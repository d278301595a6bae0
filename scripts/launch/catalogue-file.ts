import { dirname, join } from "node:path";
import { z } from "zod";
import type { AdminClient } from "../admin/client.ts";
import { extended, withLikes } from "./catalogue-extension.ts";
import { Complaint } from "./complaint.ts";
import { readText } from "./given-file.ts";

const Named = z.looseObject({ name: z.string().min(1) });

const fileName = z.string().regex(/^[^/]+\.json$/, "It is not the name of a file, such as parent.json.");

const Changes = z.looseObject({ replace: z.record(z.string().min(1), z.string()).optional() });

const Extension = Changes.extend({ extends: fileName, changes: fileName.exactOptional() });

/** Loads a catalogue file into the service, and returns the number of its templates. */
export async function loadCatalogueFile(admin: AdminClient, path: string): Promise<number> {
  const catalogue = readCatalogue(path);
  return (await admin.loadCatalogue(catalogue.name, catalogue)).templates;
}

/** Reads a catalogue file, with what it inherits. The service checks its content. */
export function readCatalogue(path: string): z.infer<typeof Named> {
  const catalogue = Named.safeParse(readInherited(path));
  if (!catalogue.success) throw new Complaint(`${path} is not a template catalogue: it has no "name".`);
  return catalogue.data;
}

/** The content of a file, with all that it inherits from others and within itself. */
function readInherited(path: string, children: string[] = []): unknown {
  const content = readExtended(path, children);
  return complaining(path, () => withLikes(content));
}

function readExtended(path: string, children: string[]): unknown {
  if (children.includes(path)) throw new Complaint(`${path} extends itself.`);
  const content = readJson(path);
  if (typeof content !== "object" || content === null || !("extends" in content)) return content;
  const extension = Extension.safeParse(content);
  if (!extension.success)
    throw new Complaint(`${path} cannot extend another catalogue. ${z.prettifyError(extension.error)}`);
  const { changes, ...own } = extension.data;
  const parent = readInherited(join(dirname(path), own.extends), [...children, path]);
  const changed = changes === undefined ? parent : withChanges(parent, join(dirname(path), "changes", changes));
  return complaining(path, () => extended(changed, own));
}

/** The parent with changes that several catalogues share. */
function withChanges(parent: unknown, path: string): unknown {
  const changes = Changes.safeParse(readJson(path));
  if (!changes.success) throw new Complaint(`${path} cannot change a catalogue. ${z.prettifyError(changes.error)}`);
  return complaining(path, () => extended(parent, changes.data));
}

/** Adds the name of the file to a Complaint of `work`. */
function complaining<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Complaint ? new Complaint(`${path}: ${error.message}`) : error;
  }
}

function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** The warning about a repository of a catalogue. A problem may be a sentence, or a fragment without its full stop. */
export const importWarning = ({ name, problem }: { name: string; problem: string | null }): string =>
  `${name} could not be imported: ${(problem ?? "unknown").replace(/\.?$/, ".")} The import is retried every half hour.`;
