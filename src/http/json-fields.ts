/** A body of JSON that cannot be read as the parameters of a call. Its message is for the client. */
export class JsonFault extends Error {
  override readonly name = "JsonFault";
}

export const isJson = (contentType: string | null): boolean =>
  /^\s*application\/([\w.-]+\+)?json\b/i.test(contentType ?? "");

/**
 * The parameters in an object of JSON, in its order: texts as they are, numbers and flags as a form would have them; null is an
 * absent one. A list of such values is a parameter that stands there several times. Throws a JsonFault for anything else.
 */
export function jsonFields(text: string): [name: string, value: string][] {
  const object = parsed(text);
  if (typeof object !== "object" || object === null || Array.isArray(object)) {
    throw new JsonFault('The JSON in the body must be an object of parameters, {"name": "value"}');
  }
  return Object.entries(object).flatMap(([name, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => (one === null ? [] : [fieldOf(name, one)])),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonFault("The body is not well-formed JSON");
  }
}

function fieldOf(name: string, value: unknown): [string, string] {
  if (typeof value === "object") {
    throw new JsonFault(
      `The parameter ${name.slice(0, 100)} must be a text, a number or a flag, without objects or lists inside`,
    );
  }
  return [name, String(value)];
}
