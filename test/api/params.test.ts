import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const formType = "application/x-www-form-urlencoded";
const boundary = "6b002ccc";

const lines = (...all: string[]) => all.join("\r\n");

/** A text field as Ruby's gem and Python write it. */
const field = (name: string, value: string, ...headers: string[]) =>
  lines(`--${boundary}`, `Content-Disposition: form-data; name="${name}"`, ...headers, "", value, "");

/** POST that clones an appliance: `clone_from` is an id, `name` a text. */
async function clone(tux: Client, query: string, body?: BodyInit, contentType?: string): Promise<Response> {
  const headers = new Headers({ authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` });
  if (contentType !== undefined) headers.set("content-type", contentType);
  // A string would set its own content type.
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return await visit(`/api/v2/user/appliances${query}`, { method: "POST", headers, ...(bytes && { body: bytes }) });
}

const nameOf = async (answer: Response): Promise<string> => (await readXml(answer)).appliance?.name;

describe("parameters", () => {
  it.each<[string, string, string?, string?]>([
    ["in the query", "?clone_from=1&name=Kiosk"],
    ["in the query, next to a bare key that ends in ?", "?clone_from=1&name=Kiosk&latest?"],
    ["next to bare keys", "?latest&clone_from=1&name=Kiosk&"],
    ["twice in the query", "?clone_from=1&clone_from=1&name=Kiosk&name=Kiosk"],
    ["empty, and again with a value", "?name=&clone_from=1&name=Kiosk"],
    ["in a form", "", "clone_from=1&name=Kiosk", formType],
    [
      "in a form of another spelling",
      "",
      "clone_from=1&name=Kiosk",
      "Application/X-WWW-Form-Urlencoded; charset=utf-8",
    ],
    ["in a form, with a bare ? in the URL", "?", "clone_from=1&name=Kiosk", formType],
    ["in a form, next to empty ones", "", "clone_from=1&name=Kiosk&arch=&version=", formType],
    ["in a form with a line break at its end", "", "clone_from=1&name=Kiosk\r\n", formType],
    ["in a body without a type", "", "clone_from=1&name=Kiosk"],
    ["in the query and again in a form", "?clone_from=1&name=Kiosk", "clone_from=1&name=Kiosk", formType],
    ["partly in the query and partly in a form", "?clone_from=1", "name=Kiosk", formType],
    ["empty in the query and in a form", "?clone_from=&name=", "clone_from=1&name=Kiosk", formType],
    ["in the query before a form", "?clone_from=1&name=Kiosk", "clone_from=999&name=Other", formType],
    ["next to an empty form", "?clone_from=1&name=Kiosk", "", formType],
    ["next to an empty XML body", "?clone_from=1&name=Kiosk", "", "application/xml"],
    ["next to an empty multipart body without a boundary", "?clone_from=1&name=Kiosk", "", "multipart/form-data"],
    ["next to XML that is declared as a form", "?clone_from=1&name=Kiosk", "<a>name=Other&amp;</a>", formType],
    ["next to XML without a type", "?clone_from=1&name=Kiosk", " <a b='c'/>"],
    ["next to XML", "?clone_from=1&name=Kiosk", "<a/>", "application/xml"],
    ["in JSON", "", '{"clone_from": 1, "name": "Kiosk"}', "application/json"],
    ["in JSON of another spelling", "", ' {"clone_from":"1","name":"Kiosk"}\n', "Application/JSON; charset=utf-8"],
    [
      "in JSON with null and unknown names",
      "?name=Kiosk",
      '{"clone_from": 1, "arch": null, "x": true}',
      "application/json",
    ],
    ["in JSON, the first of a list", "", '{"clone_from": [1, 2], "name": ["Kiosk"]}', "application/json"],
    ["in JSON that is declared as a form", "", '{"clone_from": 1, "name": "Kiosk"}', formType],
    ["in JSON without a type", "", '\n{"clone_from": 1, "name": "Kiosk"}'],
    ["in the query before JSON", "?name=Kiosk", '{"clone_from": 1, "name": "Other"}', "application/json"],
    ["next to an empty JSON body", "?clone_from=1&name=Kiosk", "", "application/json"],
    ["next to an empty object", "?clone_from=1&name=Kiosk", "{}", "application/json"],
    ["next to bytes", "?clone_from=1&name=Kiosk", "clone_from=999", "application/octet-stream"],
  ])("are read %s", async (_, query, body, contentType) => {
    const tux = await signedIn();

    expect(await nameOf(await clone(tux, query, body, contentType))).toBe("Kiosk");
  });

  it.each([
    ["a+b%20c%2Bd", "a b c+d"],
    ["K%C3%BCche", "Küche"],
    ["%F0%9F%90%A7", "🐧"],
    ["100%", "100%"],
    ["%zz%4", "%zz%4"],
    ["a%26b%3Dc", "a&b=c"],
    ["a;b", "a;b"],
  ])("written %s mean %s, in query and form", async (written, meant) => {
    const tux = await signedIn();

    expect(await nameOf(await clone(tux, `?clone_from=1&name=${written}`))).toBe(meant);
    expect(await nameOf(await clone(tux, "", `clone_from=1&name=${written}`, formType))).toBe(meant);
  });

  it.each([
    ["invalid UTF-8", "%FC"],
    ["half a character", "%F0%9F"],
    ["a control character", "a%00b"],
  ])("that are %s are refused", async (_, written) => {
    const tux = await signedIn();

    await expectError(await clone(tux, `?clone_from=1&name=${written}`), 400, "invalid_value");
    await expectError(await clone(tux, "", `clone_from=1&name=${written}`, formType), 400, "invalid_value");
  });

  it.each([
    ["cut off", '{"clone_from": 1', "The body is not well-formed JSON."],
    ["a form", "clone_from=1", "The body is not well-formed JSON."],
    ["a list", '[{"clone_from": 1}]', 'The JSON in the body must be an object of parameters, {"name": "value"}.'],
    ["null", "null", 'The JSON in the body must be an object of parameters, {"name": "value"}.'],
    [
      "nested",
      '{"clone_from": 1, "name": {"first": "Kiosk"}}',
      "The parameter name must be a string, a number or a boolean, not an object or a list.",
    ],
    [
      "nested in a list",
      '{"clone_from": 1, "name": [["Kiosk"]]}',
      "The parameter name must be a string, a number or a boolean, not an object or a list.",
    ],
    ["nested without end", "[".repeat(200_000), "The body is not well-formed JSON."],
    ["half a character", '{"clone_from": 1, "name": "\\ud83d"}', "The value of name is invalid."],
    ["not a number", '{"clone_from": 1.5}', "Invalid appliance id."],
    ["too large", `{"clone_from": 1, "name": "${"x".repeat(300_000)}"}`, "The body is too large for this call."],
  ])("in JSON that is %s are refused with a message", async (_, body, sentence) => {
    const tux = await signedIn();

    const answer = await clone(tux, "", body, "application/json");

    const code = sentence.includes("appliance id") ? "invalid_appliance_id" : "invalid_value";
    expect(await expectError(answer, 400, code)).toBe(sentence);
  });

  it("named like a property of every object are ignored", async () => {
    const tux = await signedIn();

    const answer = await clone(tux, "?__proto__=x&constructor=y&clone_from=1&name=Kiosk", "toString=z", formType);
    const json = '{"__proto__": "x", "constructor": "y", "clone_from": 1, "name": "Kiosk"}';

    expect(await nameOf(answer)).toBe("Kiosk");
    expect(await nameOf(await clone(tux, "", json, "application/json"))).toBe("Kiosk");
  });
});

describe("a multipart form with parameters", () => {
  const end = `--${boundary}--\r\n`;

  it.each<[string, string, string]>([
    ["an unquoted boundary", `multipart/form-data; boundary=${boundary}`, field("name", "Kiosk") + end],
    ["a line break after its end", `multipart/form-data; boundary=${boundary}`, `${field("name", "Kiosk")}${end}\r\n`],
    ["a quoted boundary", `multipart/form-data; boundary="${boundary}"`, field("name", "Kiosk") + end],
    [
      "a boundary with =",
      'multipart/form-data; boundary="===============7330845974216740156=="',
      (field("name", "Kiosk") + end).replaceAll(boundary, "===============7330845974216740156=="),
    ],
    [
      "many dashes",
      "multipart/form-data; boundary=------------------------d74496d66958873e",
      (field("name", "Kiosk") + end).replaceAll(boundary, "------------------------d74496d66958873e"),
    ],
    [
      "more headers in its parts",
      `multipart/form-data; boundary=${boundary}`,
      field("name", "Kiosk", "MIME-Version: 1.0", "Content-Type: text/plain", "Content-Transfer-Encoding: 7bit") + end,
    ],
    [
      "a part that is declared as a file",
      `multipart/form-data; boundary=${boundary}`,
      field("name", "Kiosk").replace('name="name"', 'name="name"; filename="name.txt"') + end,
    ],
    ["empty fields", `multipart/form-data; boundary=${boundary}`, field("arch", "") + field("name", "Kiosk") + end],
    ["a field twice", `multipart/form-data; boundary=${boundary}`, field("name", "Kiosk").repeat(2) + end],
    [
      "a file",
      `multipart/form-data; boundary=${boundary}`,
      field("file", "x".repeat(9000)) + field("name", "Kiosk") + end,
    ],
  ])("is read with %s", async (_, contentType, body) => {
    const tux = await signedIn();

    expect(await nameOf(await clone(tux, "?clone_from=1&name=", body, contentType))).toBe("Kiosk");
    expect(await nameOf(await clone(tux, "?clone_from=1&name=Query", body, contentType))).toBe("Query");
  });

  it("can contain a long text", async () => {
    const tux = await signedIn();
    const body = field("description", "x".repeat(100_000)) + field("name", "Kiosk") + end;

    const answer = await clone(tux, "?clone_from=1", body, `multipart/form-data; boundary=${boundary}`);

    expect(await nameOf(answer)).toBe("Kiosk");
  });

  it.each([
    ["has no boundary", "multipart/form-data", field("name", "Kiosk")],
    ["is cut off", `multipart/form-data; boundary=${boundary}`, field("name", "Kiosk")],
    ["is not a form", `multipart/form-data; boundary=${boundary}`, "name=Kiosk"],
    ["is too large", `multipart/form-data; boundary=${boundary}`, field("name", "x".repeat(300_000)) + end],
  ])("that %s is refused", async (_, contentType, body) => {
    const tux = await signedIn();

    await expectError(await clone(tux, "?clone_from=1", body, contentType), 400, "invalid_value");
    expect((await readXml(await tux.get("/appliances"))).appliances.appliance).toBeUndefined();
  });
});
