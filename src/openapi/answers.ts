import type { RefusalCode } from "#domain/refusal";
import { error } from "#documents/error";
import { componentName } from "#openapi/components";
import { jsonExample, xmlExample } from "#lib/wire/example";
import { statusOf, type Body, type Operation, type Version } from "#api/operation";
import type { Parameter } from "#openapi/parameters";
import { possibleRefusals } from "#openapi/refusals";
import type { Schema } from "#lib/wire/schema";
import type { Document } from "#lib/wire/shape";

/** The body of a call: the call's document, or its parameters as a form. */
export function requestBody(
  { body, method }: Operation,
  parameters: readonly Parameter[],
  version: Version,
): Schema | undefined {
  const query = parameters.filter(({ place }) => place === "query");
  if (body) return bodyObject(body, query, version);
  if (method === "GET" || query.length === 0) return undefined;
  const parametersMedia = { schema: { type: "object", properties: propertiesOf(query) } };
  return {
    description: "The parameters of the query can be sent here instead.",
    required: false,
    content: { "application/x-www-form-urlencoded": parametersMedia, "application/json": parametersMedia },
  };
}

function bodyObject(body: Body, query: readonly Parameter[], version: Version): Schema {
  switch (body.kind) {
    case "document":
      return { required: true, content: documentMedia(body.document, version) };
    case "file": {
      const properties = { ...propertiesOf(query), file: {} };
      const form = { type: "object", properties, ...(!body.mayBeAbsent && { required: ["file"] }) };
      return {
        description: body.what,
        required: !body.mayBeAbsent,
        content: { "multipart/form-data": { schema: form }, "application/octet-stream": {} },
      };
    }
    case "bytes":
      return { description: body.what, required: true, content: { [body.type]: {} } };
    case "text":
      return { description: body.what, required: false, content: { "text/plain": { schema: { type: "string" } } } };
    default:
      return body satisfies never;
  }
}

const propertiesOf = (parameters: readonly Parameter[]): Schema =>
  Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));

/** The answers of a call by status: first the success, then one for each status of its refusals. */
export const responses = (operation: Operation, version: Version): Schema => ({
  [statusOf(operation)]: answerObject(operation, version),
  ...(operation.hasEtag &&
    operation.method === "GET" && { 304: { description: "The ETag that you sent is still current." } }),
  ...refusalObjects(operation, version),
});

function answerObject({ answer, hasEtag }: Operation, version: Version): Schema {
  if (answer.kind === "document") {
    const { document } = answer;
    return {
      description: "Done.",
      ...(hasEtag && { headers: { ETag: { schema: { type: "string" } } } }),
      content: {
        ...documentMedia(document, version),
        ...(answer.asText && { "text/plain": {} }),
      },
    };
  }
  if (answer.kind === "nothing") return { description: answer.what };
  return { description: answer.what, content: Object.fromEntries(answer.types.map((type) => [type, {}])) };
}

const documentMedia = (document: Document, version: Version): Schema => ({
  "application/xml": xmlMedia(document, version),
  "application/json": jsonMedia(document, version),
});

const xmlMedia = (document: Document, version: Version): Schema => ({
  schema: refTo(document, version, "xml"),
  example: xmlExample(document, version),
});

const jsonMedia = (document: Document, version: Version): Schema => ({
  schema: refTo(document, version, "json"),
  example: jsonExample(document, version),
});

const refTo = (document: Document, version: Version, format: "xml" | "json"): Schema => ({
  $ref: `#/components/schemas/${componentName(document, version, format)}`,
});

function refusalObjects(operation: Operation, version: Version): Record<string, Schema> {
  const byStatus = Map.groupBy(possibleRefusals(operation, version), ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, refusals]) => [
      status,
      refusalObject(
        status,
        refusals.map(({ code }) => code),
      ),
    ]),
  );
}

/**
 * The description of the refusals with one status. Most statuses of a call have only one code, and calls share its
 * description.
 */
const refusalObject = (status: number, codes: readonly RefusalCode[]): Schema => {
  const [code] = codes;
  return codes.length === 1 && code !== undefined
    ? { $ref: `#/components/responses/${sharedName(status, code)}` }
    : refusalWith(codes);
};

const sharedName = (status: number, code: RefusalCode): string => `${status}.${code}`;

/** The answers that several calls share. */
export function sharedResponses(operations: readonly Operation[]): Record<string, Schema> {
  const possible = operations.flatMap((operation) =>
    operation.versions.flatMap((version) => possibleRefusals(operation, version)),
  );
  return Object.fromEntries(possible.map(({ status, code }) => [sharedName(status, code), refusalWith([code])]));
}

function refusalWith(codes: readonly RefusalCode[]): Schema {
  const narrowed = { properties: { code: { enum: codes } } };
  return {
    description: codes.join(", "),
    content: {
      "application/xml": { schema: { allOf: [refTo(error, "v2", "xml"), narrowed] } },
      "application/json": {
        schema: { allOf: [refTo(error, "v2", "json"), { properties: { error: narrowed } }] },
      },
    },
  };
}
