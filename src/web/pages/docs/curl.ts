import type { Operation } from "#api/operation";
import { parametersOf } from "#openapi/parameters";

/** The values in the commands: the reader's own ids, if they are signed in and have any, but never a key. */
export interface Reader {
  username: string | undefined;
  applianceId: number | null;
  buildId: number | null;
}

/** A shell command that sends a call. Placeholders for values that only the reader knows are in capitals. */
export function curlLine(operation: Operation, baseUrl: string, reader: Reader): string {
  const { method, versions } = operation;
  const version = versions.includes("v2") ? "v2" : "v1";
  const url = `${baseUrl}/api/${version}/user${filled(operation.path, reader)}${queryOf(operation, reader)}`;
  const given = bodyOf(operation);
  const usual = given === "" ? "GET" : "POST";
  return [
    `curl -u ${reader.username ?? "NAME"}:KEY`,
    method === usual ? "" : `-X ${method}`,
    given,
    isPlain(url) ? url : `'${url}'`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

const isPlain = (url: string): boolean => !/[?&*' ]/.test(url);

const filled = (path: string, reader: Reader): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name, reader));

function queryOf(operation: Operation, reader: Reader): string {
  const required = parametersOf(operation).filter(({ place, isRequired }) => place === "query" && isRequired);
  const pairs = required.map(({ name }) => `${name}=${valueOf(name, reader)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function valueOf(name: string, { username, applianceId, buildId }: Reader): string {
  const known: Readonly<Record<string, string | number | null | undefined>> = {
    appliance_id: applianceId,
    build_id: buildId,
    username,
  };
  return String(known[name] ?? name.toUpperCase());
}

function bodyOf({ body, method }: Operation): string {
  switch (body?.kind) {
    case undefined:
      return "";
    case "document":
      return "-H 'Content-Type: application/xml' --data-binary @FILE.xml";
    case "file":
      return method === "POST" ? "-F file=@FILE" : "--data-binary @FILE";
    case "bytes":
    case "text":
      return "--data-binary @FILE";
    default:
      return body satisfies never;
  }
}
