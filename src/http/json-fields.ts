/** A JSON body that cannot be read as the parameters of a call. The message is for the client. */
export class JsonFault extends Error {
  override readonly name = "JsonFault";
}

export const isJson = (contentType: string | null): boolean =>
  /^\s*application\/([\w.-]+\+)?json\b/i.test(contentType ?? "");

/**
 * The parameters in a JSON object, in its order: texts unchanged, numbers and flags as in a form. Null counts as
 * absent. A list of such values repeats the parameter. Throws a JsonFault for anything else.
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
      `The parameter ${name.slice(0, 100)} must be a string, a number or a boolean, not an object or a list`,
    );
  }
  return [name, String(value)];
}
