import type { Needed } from "#domain/accounts/access";
import { requestBody, responses, sharedResponses } from "#openapi/answers";
import { componentSchemas } from "#openapi/components";
import { both, scopeOf, type Group, type Operation, type Version } from "#api/operation";
import { groups } from "#api/groups";
import { outsidePaths } from "#openapi/outside";
import { parametersOf, type Parameter } from "#openapi/parameters";
import type { Schema } from "#lib/wire/schema";

/** The description of both versions of the API in OpenAPI 3.1. */
export const openApiDocument = (baseUrl: string): Schema => ({
  ...(described ??= describe()),
  servers: [{ url: baseUrl }],
});

/** Created only once, because creating it takes long. */
let described: Schema | undefined;

function describe(): Schema {
  return {
    openapi: "3.1.1",
    info: {
      title: "Kiln",
      version: "2.0",
      summary: "Appliance build service",
      description:
        "The API of the appliance build service that closed in 2018, v1 and v2. Send parameters in the query, as a form or " +
        "as multipart fields; an empty one counts as absent. Every call signs in with HTTP Basic: account name and API key, or " +
        "account name and a token that has the scope of the call.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: signedInBy("key"),
    tags: groups.map(({ title, about }) => ({ name: title, description: about })),
    paths: { ...apiPaths(), ...outsidePaths },
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "basic", description: "Account name, and the API key as the password." },
        token: { type: "http", scheme: "basic", description: "Account name, and a token as the password." },
      },
      schemas: componentSchemas(),
      responses: sharedResponses(groups.flatMap(({ operations }) => operations)),
    },
  };
}

function apiPaths(): Record<string, Schema> {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const version of both) {
    for (const group of groups) {
      for (const operation of group.operations.filter(({ versions }) => versions.includes(version))) {
        const path = (paths[`/api/${version}/user${operation.path}`] ??= {});
        path[operation.method.toLowerCase()] = operationObject(operation, group, version);
      }
    }
  }
  return paths;
}

function operationObject(operation: Operation, group: Group, version: Version): Schema {
  const { name, summary, details, deprecated } = operation;
  const parameters = parametersOf(operation);
  const body = requestBody(operation, parameters, version);
  return {
    operationId: version === "v2" ? name : `${name}V1`,
    tags: [group.title],
    summary,
    ...(details && { description: details }),
    security: signedInBy(scopeOf(operation)),
    ...(parameters.length > 0 && { parameters: parameters.map(parameterObject) }),
    ...(body && { requestBody: body }),
    responses: responses(operation, version),
    ...(deprecated && { deprecated }),
  };
}

/** OpenAPI 3.1 allows a list of roles for a call. Here it contains the scope that a token needs. */
const signedInBy = (needed: Needed): Schema[] =>
  needed === "key" ? [{ apiKey: [] }] : [{ apiKey: [] }, { token: [needed] }];

const parameterObject = ({ name, place, isRequired, meaning, schema }: Parameter): Schema => ({
  name,
  in: place,
  required: isRequired,
  description: meaning,
  schema,
});
