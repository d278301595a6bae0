import { isMap, isScalar, isSeq, type Document } from "yaml";
import { findSystemText } from "#domain/images/files";
import { parseYaml, refuseSeed } from "#domain/testdrives/seed";
import { firstFault, type Schema, type SchemaFault } from "#lib/cloud-config/schema";
import type { Seed } from "#lib/contract/index";
import type { Build } from "#storage/builds";

/** The path of the schema for user data in Debian's package. `cloud-init schema` reads the same file. */
const schemaPath = "/usr/lib/python3/dist-packages/cloudinit/config/schemas/schema-cloud-config-v1.json";
const maxSchemaBytes = 2 ** 20;

/**
 * Refuses user data with names or types that the image's own cloud-init does not know, before the machine starts. If an
 * image has no schema, nothing is checked. The image's owner may have changed the schema, so it decides nothing else.
 */
export async function checkCloudConfig(env: Pick<Env, "BLOBS">, build: Build, { userData }: Seed): Promise<void> {
  if (userData === undefined || !/^#cloud-config\s*\n/.test(userData)) return;
  const text = await findSystemText(env, build, { path: schemaPath, maxBytes: maxSchemaBytes });
  const schema = text === undefined ? undefined : readSchema(text);
  if (!schema) return;
  const document = parseYaml(userData);
  const fault = firstFault(schema, valueOf(document));
  if (fault) refuseSeed("user_data", `line ${lineOf(document, userData, fault)}: ${wordsOf(fault)}`);
}

function readSchema(text: string): Schema | undefined {
  try {
    const schema: unknown = JSON.parse(text);
    return typeof schema === "object" && schema !== null ? { ...schema } : undefined;
  } catch {
    return undefined;
  }
}

/** The value of a document. An empty text is valid. YAML aliases could expand to more than fits into memory. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    return refuseSeed("user_data", "has too many aliases (*name)");
  }
}

/** The message for a fault. It contains only names from the schema, because others may be secrets. */
const wordsOf = ({ path, why }: SchemaFault): string => `${path.length === 0 ? "the data" : path.join("/")} ${why}`;

function lineOf({ contents }: Document, text: string, { path, key }: SchemaFault): number {
  let at: unknown = contents;
  let offset = 0;
  for (const step of key === undefined ? path : [...path, key]) {
    const pair = isMap(at) ? at.items.find((each) => isScalar(each.key) && String(each.key.value) === step) : undefined;
    const item = isSeq(at) && typeof step === "number" ? at.items[step] : undefined;
    offset = startOf(pair?.key ?? item) ?? offset;
    at = pair ? pair.value : item;
  }
  return text.slice(0, offset).split("\n").length;
}

/** The position where a YAML node begins. */
const startOf = (node: unknown): number | undefined =>
  typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)
    ? Number(node.range[0])
    : undefined;
