import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { generateKey } from "openpgp";
import { beforeAll, describe, expect, it } from "vitest";
import { rpm } from "./support/bodies.ts";
import {
  expectDocument,
  formType,
  rubyForm,
  rubyType,
  startDialect,
  xmlType,
  type Dialect,
} from "./support/dialect.ts";
import { length, lines, type WireAnswer } from "./support/wire.ts";

/** Requests with a document or a file, in the exact bytes of each client (compatibility.md, "Bodies"). */

let dialect: Dialect;
let ask: Dialect["ask"];
let id: string;
let appliance: string;

beforeAll(async () => {
  dialect = await startDialect("bodies");
  ask = dialect.ask;
  id = await dialect.cloned();
  appliance = `/api/v2/user/appliances/${id}`;
});

const md5 = createHash("md5").update(rpm).digest("hex");

/** The document types that clients declare: correct, wrong, or none. */
const documentTypes: [string, string[]][] = [
  ["PySUSEStudio, Ruby's gem", [xmlType]],
  ["Python: another spelling", ["Content-type: application/xml; charset=UTF-8"]],
  ["curl -d, Ruby's gem, Qt", [formType]],
  ["Java's library, curl -T", []],
];

describe("PUT software", () => {
  it.each(documentTypes)("accepts %s", async (_, headers) => {
    const body = `<?xml version="1.0" encoding="UTF-8"?>
<software type="array" appliance_id="${id}"><package>hello</package><patterns>base</patterns></software>`;

    const answer = await ask(`PUT ${appliance}/software`, { headers: [...headers, length(body)], body });

    expectDocument(answer);
    expect(answer.text).toBe(
      `<software type="array" appliance_id="${id}">\n  <package>hello</package>\n  <pattern>base</pattern>\n</software>\n`,
    );
  });

  it("accepts Qt's empty body", async () => {
    const answer = await ask(`PUT ${appliance}/software`, { headers: [formType, "Content-Length: 0"] });

    expectDocument(answer, "HTTP/1.1 400 Bad Request invalid_xml");
  });
});

describe("PUT repositories", () => {
  it.each(documentTypes)("accepts, as %s, what GET has answered", async (_, headers) => {
    const { text: body } = await ask(`GET ${appliance}/repositories`);

    const answer = await ask(`PUT ${appliance}/repositories/`, { headers: [...headers, length(body)], body });

    expectDocument(answer);
    expect(answer.text).toBe(body);
  });
});

describe("PUT configuration", () => {
  it.each(documentTypes)("accepts, as %s, what GET has answered", async (_, headers) => {
    const { text: body } = await ask(`GET ${appliance}/configuration`);

    const answer = await ask(`PUT ${appliance}/configuration`, { headers: [...headers, length(body)], body });

    expectDocument(answer);
    expect(answer.text).toBe(body);
  });

  it("accepts curl -T: an XML declaration, comments and attributes", async () => {
    const body = `<?xml version='1.0'?>\r\n<configuration class="Hash">\r\n  <name>Kiosk &#233;</name>\r\n</configuration>`;

    const answer = await ask(`PUT ${appliance}/configuration`, { headers: [length(body)], body });

    expectDocument(answer);
    expect(answer.element("name")).toMatch(/^Kiosk (é|&#233;)$/);
  });
});

/** A form with a file, as various clients write it. */
interface Form {
  type: string;
  body: Buffer;
}

const form = (type: string, ...parts: (string | Buffer)[]): Form => ({
  type: `Content-Type: multipart/form-data; boundary=${type}`,
  body: Buffer.concat(parts.map((part) => Buffer.from(part))),
});

const pythonBoundary = "===============6262626262626262626==";
const curlBoundary = "----------------------------5d8cd5b5a8b1";
const fileForms = (file: Buffer, field: { name: string; value: string }): Record<string, Form> => ({
  "Ruby's gem: a short boundary, a line break behind the end": form(
    "6b002ccc",
    lines("--6b002ccc", 'Content-Disposition: form-data; name="file"; filename="/tmp/x/hello.rpm"'),
    lines("Content-Type: application/octet-stream", ""),
    file,
    lines("", "--6b002ccc--", ""),
  ),
  "Ruby's gem, given a text: neither a file name nor a type": form(
    "6b002ccc",
    lines("--6b002ccc", 'Content-Disposition: form-data; name="file"', ""),
    file,
    lines("", "--6b002ccc--", ""),
  ),
  "PySUSEStudio: a quoted boundary with =, many headers, a field before": form(
    `"${pythonBoundary}"`,
    lines(`--${pythonBoundary}`, 'Content-Type: text/plain; charset="us-ascii"', "MIME-Version: 1.0"),
    lines("Content-Transfer-Encoding: 7bit", `Content-Disposition: form-data; name="${field.name}"`, "", field.value),
    lines(`--${pythonBoundary}`, "Content-Type: application/x-rpm", "MIME-Version: 1.0"),
    lines("Content-Type-Encoding: binary", 'Content-Disposition: form-data; name="file"; filename="hello.rpm"', ""),
    file,
    `\r\n--${pythonBoundary}--`,
  ),
  "curl -F: dashes": form(
    curlBoundary,
    lines(`--${curlBoundary}`, 'Content-Disposition: form-data; name="file"; filename="hello.rpm"'),
    lines("Content-Type: application/octet-stream", ""),
    file,
    lines("", `--${curlBoundary}--`),
  ),
});

const formNames = Object.keys(fileForms(rpm, { name: "", value: "" }));
const formOf = (name: string, file: Buffer, field: { name: string; value: string }): Form => {
  const found = fileForms(file, field)[name];
  if (!found) throw new Error(`no form ${name}`);
  return found;
};

async function expectRpm(answer: WireAnswer): Promise<void> {
  expectDocument(answer);
  expect(answer.text).toContain(`<checksum type="md5">${md5}</checksum>`);
  const data = await ask(`GET /api/v2/user/rpms/${answer.element("id")}/data`, {
    headers: ["Accept-Encoding: gzip"],
  });
  expect(data.statusLine).toBe("HTTP/1.1 200 OK");
  expect(data.headers.get("content-length")).toBe(String(rpm.length));
  expect(data.headers.get("content-encoding") ?? "identity").toBe("identity");
  expect(createHash("md5").update(data.body).digest("hex")).toBe(md5);
}

describe("POST rpms", () => {
  it.each(formNames)("accepts %s", async (name) => {
    const { type, body } = formOf(name, rpm, { name: "base_system", value: "tiny-1.0" });
    const query = name.startsWith("PySUSEStudio") ? "" : "?base_system=tiny-1.0";

    await expectRpm(await ask(`POST /api/v2/user/rpms${query}`, { headers: [type, length(body)], body }));
  });

  it("accepts Qt's raw file, which it declares as a form", async () => {
    const said = { headers: [formType, length(rpm)], body: rpm };

    await expectRpm(await ask("POST /api/v2/user/rpms?base_system=tiny-1.0", said));
  });
});

describe("POST files", () => {
  const text = Buffer.from("port = 7000\n\u0000\r\n--6b002cc\r\n");

  it.each(formNames)("accepts %s", async (name) => {
    const { type, body } = formOf(name, text, { name: "owner", value: "root" });
    const query = `appliance_id=${id}&path=%2Fetc&filename=${encodeURIComponent(name.slice(0, 14))}&permissions=0755`;

    const answer = await ask(`POST /api/v2/user/files?${query}`, { headers: [type, length(body)], body });

    expectDocument(answer);
    expect([answer.element("path"), answer.element("permissions")]).toEqual(["/etc", "755"]);
    expect(answer.element("size")).toBe(String(text.length));
    const data = await ask(`GET /api/v2/user/files/${answer.element("id")}/data`);
    expect(data.body).toEqual(text);
  });

  it.each(documentTypes)("accepts its own answer as a change, as %s", async (_, headers) => {
    const { type, body } = formOf("curl -F: dashes", text, { name: "owner", value: "root" });
    const query = `appliance_id=${id}&filename=${headers.length}-${headers.join("").length}`;
    const file = await ask(`POST /api/v2/user/files?${query}`, { headers: [type, length(body)], body });
    const change = `<?xml version="1.0" encoding="UTF-8"?>\n${file.text.replace("<permissions>644", "<permissions>600")}`;

    const line = `PUT /api/v2/user/files/${file.element("id")}`;
    const answer = await ask(line, { headers: [...headers, length(change)], body: change });

    expectDocument(answer);
    expect(answer.text).toBe(file.text.replace("<permissions>644", "<permissions>600"));
  });
});

describe("POST gpg_keys", () => {
  it.each<[string, (armour: string) => { query: string; headers: string[]; body: string }]>([
    [
      "Ruby's gem: the key in the query, and an empty form",
      (armour) => ({ query: `&key=${encodeURIComponent(armour)}`, headers: [formType], body: "" }),
    ],
    [
      "Ruby's gem: a file without a name",
      (armour) => ({ query: "", headers: [rubyType], body: rubyForm(["file", armour]) }),
    ],
    ["Qt: the raw key, which it declares as a form", (armour) => ({ query: "", headers: [formType], body: armour })],
  ])("accepts %s", async (name, sent) => {
    const { publicKey: armour } = await generateKey({ userIDs: [{ name }] });
    const { query, headers, body } = sent(armour);

    const line = `POST ${appliance}/gpg_keys?name=${encodeURIComponent(name)}&target=rpm${query}`;
    const answer = await ask(line, { headers: [...headers, length(body)], body });

    expectDocument(answer);
    expect(answer.text).toContain("-----BEGIN PGP PUBLIC KEY BLOCK-----");
  });
});

describe("the logo", () => {
  it.each(["POST", "PUT"])("accepts a %s of Ruby's gem and of the documentation", async (method) => {
    const picture = await ask("GET /api/v2/user/appliances/1/configuration/logo");
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
    const { type, body } = formOf("curl -F: dashes", picture.body, { name: "", value: "" });

    const answer = await ask(`${method} ${appliance}/configuration/logo`, { headers: [type, length(body)], body });

    expectDocument(answer);
    expect(answer.text).toBe("<success></success>\n");
  });
});
