import { error } from "#documents/error";
import { both, type Operation, type Version } from "#api/operation";
import { groups } from "#api/groups";
import { jsonSchema } from "#lib/wire/json-schema";
import type { Schema } from "#lib/wire/schema";
import type { AnyShape, Document } from "#lib/wire/shape";
import { xmlSchema } from "#lib/wire/xml-schema";

/** The name of a document in the components. If v1 differs, its document has a separate name. */
export const componentName = (document: Document, version: Version, format: "xml" | "json"): string =>
  document.name + (version === "v1" && differs(document.shape) ? "V1" : "") + (format === "json" ? "Json" : "");

/** The schemas of all bodies and answers of calls. */
export function componentSchemas(): Record<string, Schema> {
  const documents = [...groups.flatMap(({ operations }) => operations.flatMap(documentsOf)), error];
  const named = both.flatMap((version) =>
    documents.flatMap((document): [string, Schema][] => [
      [componentName(document, version, "xml"), xmlSchema(document, version)],
      [componentName(document, version, "json"), jsonSchema(document, version)],
    ]),
  );
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function documentsOf({ answer, body }: Operation): Document[] {
  return [answer, body].flatMap((part) => (part?.kind === "document" ? [part.document] : []));
}

/** Whether the versions show different parts of the document. */
function differs(shape: AnyShape): boolean {
  switch (shape.kind) {
    case "leaf":
      return false;
    case "fields":
      return Object.values(shape.fields).some(({ only, shape }) => only !== undefined || differs(shape));
    case "list":
      return differs(shape.of);
    case "marked":
      return differs("kind" in shape.value ? shape.value : shape.value.shape);
    default:
      return shape satisfies never;
  }
}
