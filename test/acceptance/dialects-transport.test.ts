import { Buffer } from "node:buffer";
import { beforeAll, describe, expect, it } from "vitest";
import { large, rpm, sendChunks, slices } from "./support/bodies.ts";
import { expectDocument, formType, startDialect, xmlType, type Dialect } from "./support/dialect.ts";
import { length, request, type WireAnswer } from "./support/wire.ts";

/** Connections and bodies as clients of HTTP/1.1 use them (compatibility.md, "Connections"). */

let dialect: Dialect;

beforeAll(async () => {
  dialect = await startDialect("transport");
});

const account = () => request("GET /api/v2/user/account", { headers: [dialect.basic] });
const upload = (...headers: string[]) => request("POST /api/v2/user/rpms?base_system=tiny-1.0", { headers });

function expectChallenge(answer: WireAnswer): void {
  expectDocument(answer, "HTTP/1.1 401 Unauthorized access_denied");
  expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm="[^"]+"/);
}

describe("a connection", () => {
  it("accepts Python's and Qt's repeat after 401, with the body again", async () => {
    const wire = await dialect.open();
    const body = "clone_from=1&name=Twice";
    const said = (...headers: string[]) => ({ headers: [formType, length(body), ...headers], body });

    await wire.send(request("POST /api/v2/user/appliances", said()));
    expectChallenge(await wire.answer());
    await wire.send(request("POST /api/v2/user/appliances", said(dialect.basic)));
    const answer = await wire.answer();

    expectDocument(answer);
    expect(answer.element("name")).toBe("Twice");
  });

  it("accepts Python's whole upload before the challenge, and again after it", async () => {
    const wire = await dialect.open();

    await wire.send(Buffer.concat([upload(length(large)), large]));
    expectChallenge(await wire.answer());
    await wire.send(Buffer.concat([upload(dialect.basic, length(rpm)), rpm]));

    expectDocument(await wire.answer());
  });

  it("closes after refusing an upload that is too large to discard", async () => {
    const wire = await dialect.open();

    await wire.send(Buffer.concat([upload(`Content-Length: ${4 * 2 ** 30}`), Buffer.alloc(1000)]));

    const answer = await wire.answer();
    expectChallenge(answer);
    expect(answer.headers.get("connection")).toBe("close");
  });

  it.each([
    ["POST /api/v2/user/rpms?base_system=none", "400 Bad Request invalid_base_system"],
    ["POST /api/v2/user/nothing", "404 Not Found unknown_error"],
    ["PUT /api/v2/user/account", "400 Bad Request wrong_http_method"],
    ["POST /api/v2/user/appliances?clone_from=999", "400 Bad Request invalid_appliance_id"],
  ])("survives %s with a body that is not used", async (line, refusal) => {
    const wire = await dialect.open();

    const body = large.subarray(0, 2 ** 20); // the service reads more only before a challenge
    await wire.send(request(line, { headers: [dialect.basic, xmlType, length(body)], body }));
    expectDocument(await wire.answer(), `HTTP/1.1 ${refusal}`);
    await wire.send(account());

    expectDocument(await wire.answer());
  });

  it("carries many requests, even sent before earlier answers", async () => {
    const wire = await dialect.open();

    await wire.send(Buffer.concat([account(), account(), account()]));

    for (let i = 0; i < 3; i++) expectDocument(await wire.answer());
    expect(wire.unexpected).toBe("");
  });

  it("closes when the client requests it", async () => {
    const wire = await dialect.open();

    await wire.send(request("GET /api/v2/user/account", { headers: [dialect.basic, "Connection: close"] }));

    expectDocument(await wire.answer());
    expect(await wire.isClosed()).toBe(true);
  });
});

describe("Expect: 100-continue", () => {
  it("gets an interim answer, then curl sends the body", async () => {
    const wire = await dialect.open();
    await wire.send(upload(dialect.basic, "Expect: 100-continue", length(rpm)));

    expect((await wire.answer()).statusLine).toBe("HTTP/1.1 100 Continue");
    await wire.send(rpm);

    expectDocument(await wire.answer());
  });

  it("gets a refusal immediately, without the body", async () => {
    const wire = await dialect.open();

    await wire.send(upload("Expect: 100-continue", length(rpm)));

    expectChallenge(await wire.answer());
    expect(wire.unexpected).toBe("");
  });
});

describe("Transfer-Encoding: chunked", () => {
  it("works for Python's upload of unknown length", async () => {
    const wire = await dialect.open();

    await wire.send(upload(dialect.basic, "Transfer-Encoding: chunked"));
    await sendChunks(wire, slices(rpm, 1000));

    expectDocument(await wire.answer());
  });

  it("works for parameters that arrive in pieces", async () => {
    const wire = await dialect.open();

    await wire.send(
      request("POST /api/v2/user/appliances", { headers: [dialect.basic, formType, "Transfer-Encoding: chunked"] }),
    );
    await sendChunks(wire, ["clone_fr", "om=1&na", "me=Chu", "nked"], 20);

    const answer = await wire.answer();
    expectDocument(answer);
    expect(answer.element("name")).toBe("Chunked");
  });

  it("is read to its end before a challenge", async () => {
    const wire = await dialect.open();

    await wire.send(upload("Transfer-Encoding: chunked"));
    await sendChunks(wire, slices(large, 100_000));
    expectChallenge(await wire.answer());
    await wire.send(account());

    expectDocument(await wire.answer());
  });
});
