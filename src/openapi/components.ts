import { both, type Operation, type Version } from "#openapi/operation";
import { groups } from "#openapi/operations";
import { jsonSchema } from "#openapi/json-schema";
import type { Schema } from "#openapi/schema";
import type { Document, Shape } from "#openapi/shape";
import { error } from "#openapi/shapes/general";
import { xmlSchema } from "#openapi/xml-schema";

/** What a document is called among the components; that of v1 has its own name where it differs. */
export const componentName = (document: Document, version: Version, format: "xml" | "json"): string =>
  document.name + (version === "v1" && differs(document.shape) ? "V1" : "") + (format === "json" ? "Json" : "");

/** The schemas of everything that the calls take and answer. */
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

/** Whether it has something that only one version shows. */
function differs(shape: Shape): boolean {
  switch (shape.kind) {
    case "leaf":
      return false;
    case "fields":
      return Object.values(shape.fields).some((one) => one.only !== undefined || differs(one));
    case "list":
    case "repeated":
      return differs(shape.of);
    case "marked":
      return differs(shape.value);
    default:
      return shape satisfies never;
  }
}
