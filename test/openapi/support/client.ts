import { groups } from "#api/groups";
import type { Operation } from "#api/operation";
import { type Parameter, parametersOf } from "#openapi/parameters";
import { jsonSchema } from "#lib/wire/json-schema";
import type { Schema } from "#lib/wire/schema";
import { interfacesOf, type Member, typeOf } from "./types.ts";

/** The calls of version 2. */
const calls = groups.flatMap(({ operations }) =>
  operations.filter(({ versions, deprecated }) => versions.includes("v2") && !deprecated),
);

/** cli/src/client/calls.ts: the calls as the command line's client needs them. */
export const client = (): string =>
  [
    "// Made from the descriptions of the calls. To change it, change those, and run its test with --update:",
    "// npm run test:fast -- test/openapi/calls-page.test.ts --update",
    "",
    'import type { ImageType } from "../image-types.ts";',
    "",
    "/** A parameter that is text. Some may be repeated. */",
    "type Text = string | readonly string[];",
    "",
    "/** What a call takes and answers: ids of its path and its parameters by their names, and its body. */",
    "export interface Calls {",
    ...calls.flatMap(signature),
    "}",
    "",
    "/** Where each call goes, the type of its body, and what it answers. */",
    "export const routes = {",
    ...calls.map(route),
    "} as const;",
    ...interfacesOf(documents()).flatMap((each) => ["", each]),
    "",
  ].join("\n");

function signature(operation: Operation): string[] {
  const { name, summary } = operation;
  return [
    `  /** ${summary.replace(/\.$/, "")}. */`,
    `  ${name}: { request: ${requestType(operation)}; answer: ${answerType(operation)} };`,
  ];
}

function requestType(operation: Operation): string {
  const members = parametersOf(operation)
    .filter(({ place }) => place !== "header")
    .map(memberOf);
  const all = [...members, ...bodyMember(operation)];
  if (all.length === 0) return "object";
  return `{ ${all.map(({ name, isOptional, type }) => `${name}${isOptional ? "?" : ""}: ${type}`).join("; ")} }`;
}

/** Some texts may be repeated, but their schema does not express this. */
function memberOf({ name, isRequired, place, schema }: Parameter): Member {
  const type = typeOf(schema);
  const isText = place === "query" && type === "string";
  return { name, isOptional: !isRequired, type: isText ? "Text" : type };
}

function bodyMember({ body }: Operation): Member[] {
  if (!body) return [];
  const isOptional = body.kind === "text" || (body.kind === "file" && body.mayBeAbsent === true);
  return [{ name: "body", isOptional, type: body.kind === "document" ? body.document.name : bodyTypes[body.kind] }];
}

const bodyTypes = { text: "string", file: "globalThis.File", bytes: "Uint8Array<ArrayBuffer>" } as const;

const answerType = ({ answer }: Operation): string => (answer.kind === "document" ? answer.document.name : "Response");

function route({ name, method, path, body, answer }: Operation): string {
  const type =
    body && { document: "application/json", text: "text/plain", file: "form", bytes: bodyType(body) }[body.kind];
  const parts = [`method: "${method}"`, `path: "${path}"`, ...(type ? [`body: "${type}"`] : [])];
  return `  ${name}: { ${parts.join(", ")}, answer: "${answer.kind}" },`;
}

const bodyType = (body: NonNullable<Operation["body"]>): string => (body.kind === "bytes" ? body.type : "");

/** The documents that calls accept and return, as JSON. */
function documents(): Map<string, Schema> {
  const used = calls
    .flatMap(({ answer, body }) => [answer, body])
    .flatMap((part) => (part?.kind === "document" ? [part.document] : []));
  return new Map(used.map((document) => [document.name, jsonSchema(document, "v2")]));
}
