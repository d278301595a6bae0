import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDocument, formType, rubyType, startDialect, xmlType, type Dialect } from "./support/dialect.ts";
import { until } from "./support/service.ts";
import { length, lines, request, Wire, type WireAnswer } from "./support/wire.ts";

/** Connections, bodies and lengths as clients of HTTP/1.1 use them (wire.md §1.1, §1.2). */

let dialect: Dialect;
let ask: Dialect["ask"];
const opened: Wire[] = [];

beforeAll(async () => {
  dialect = await startDialect("transport");
  ask = dialect.ask;
});

afterAll(() => {
  for (const wire of opened) wire.close();
});

async function open(): Promise<Wire> {
  const wire = await Wire.open(dialect.url);
  opened.push(wire);
  return wire;
}

const sampleFolder = process.env["KILN_SAMPLE_DISTRIBUTION"];
if (sampleFolder === undefined) throw new Error("KILN_SAMPLE_DISTRIBUTION names no folder");
const rpm = readFileSync(join(sampleFolder, "main/hello-lang-1.0-1.noarch.rpm"));
/** As many bytes as a large package has, and no package. */
const large = Buffer.alloc(20 * 1024 * 1024, "x");

const account = () => request("GET /api/v2/user/account", { headers: [dialect.basic] });
const upload = (...headers: string[]) => request("POST /api/v2/user/rpms?base_system=tiny-1.0", { headers });

function expectChallenge(answer: WireAnswer): void {
  expectDocument(answer, "HTTP/1.1 401 Unauthorized access_denied");
  expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm="[^"]+"/);
}

describe("one connection", () => {
  it("Python and Qt: 401, then 200, with the body both times", async () => {
    const wire = await open();
    const body = "clone_from=1&name=Twice";
    const said = (...headers: string[]) => ({ headers: [formType, length(body), ...headers], body });

    await wire.send(request("POST /api/v2/user/appliances", said()));
    expectChallenge(await wire.answer());
    await wire.send(request("POST /api/v2/user/appliances", said(dialect.basic)));
    const answer = await wire.answer();

    expectDocument(answer);
    expect(answer.element("name")).toBe("Twice");
  });

  it("Python: a whole upload before the challenge, and again behind it", async () => {
    const wire = await open();

    await wire.send(Buffer.concat([upload(length(large)), large]));
    expectChallenge(await wire.answer());
    await wire.send(Buffer.concat([upload(dialect.basic, length(rpm)), rpm]));

    expectDocument(await wire.answer());
  });

  it("is closed behind the answer to an upload that is too large to be read for nothing", async () => {
    const wire = await open();

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
  ])("survives %s with a body that nobody wants", async (line, refusal) => {
    const wire = await open();

    await wire.send(request(line, { headers: [dialect.basic, xmlType, length(large)], body: large }));
    expectDocument(await wire.answer(), `HTTP/1.1 ${refusal}`);
    await wire.send(account());

    expectDocument(await wire.answer());
  });

  it("carries many requests, also some that are sent before the answers", async () => {
    const wire = await open();

    await wire.send(Buffer.concat([account(), account(), account()]));

    for (let i = 0; i < 3; i++) expectDocument(await wire.answer());
    expect(wire.unexpected).toBe("");
  });

  it("ends when the client says so", async () => {
    const wire = await open();

    await wire.send(request("GET /api/v2/user/account", { headers: [dialect.basic, "Connection: close"] }));

    expectDocument(await wire.answer());
    expect(await wire.isClosed()).toBe(true);
  });
});

describe("Expect: 100-continue", () => {
  it("curl -T, curl -F: the body comes after the interim answer", async () => {
    const wire = await open();
    await wire.send(upload(dialect.basic, "Expect: 100-continue", length(rpm)));

    expect((await wire.answer()).statusLine).toBe("HTTP/1.1 100 Continue");
    await wire.send(rpm);

    expectDocument(await wire.answer());
  });

  it("is answered at once when the request is refused, and the body is not asked for", async () => {
    const wire = await open();

    await wire.send(upload("Expect: 100-continue", length(rpm)));

    expectChallenge(await wire.answer());
    expect(wire.unexpected).toBe("");
  });
});

/** A body in chunks; `pause` after each. */
async function sendChunks(wire: Wire, chunks: (string | Uint8Array)[], pauseMs = 0): Promise<void> {
  for (const chunk of chunks) {
    await wire.send(`${Buffer.byteLength(chunk).toString(16)}\r\n`);
    await wire.send(chunk);
    await wire.send("\r\n");
    await sleep(pauseMs);
  }
  await wire.send("0\r\n\r\n");
}

const slices = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

describe("Transfer-Encoding: chunked", () => {
  it("Python: an upload of unknown length", async () => {
    const wire = await open();

    await wire.send(upload(dialect.basic, "Transfer-Encoding: chunked"));
    await sendChunks(wire, slices(rpm, 1000));

    expectDocument(await wire.answer());
  });

  it("is read also when it carries parameters, in pieces", async () => {
    const wire = await open();

    await wire.send(
      request("POST /api/v2/user/appliances", { headers: [dialect.basic, formType, "Transfer-Encoding: chunked"] }),
    );
    await sendChunks(wire, ["clone_fr", "om=1&na", "me=Chu", "nked"], 20);

    const answer = await wire.answer();
    expectDocument(answer);
    expect(answer.element("name")).toBe("Chunked");
  });

  it("is read to its end before a challenge", async () => {
    const wire = await open();

    await wire.send(upload("Transfer-Encoding: chunked"));
    await sendChunks(wire, slices(large, 100_000));
    expectChallenge(await wire.answer());
    await wire.send(account());

    expectDocument(await wire.answer());
  });
});

describe("an upload with an Idempotency-Key", () => {
  it.each<[string, Buffer, "known" | "unknown"]>([
    ["small, of known length", rpm, "known"],
    ["small, of unknown length", rpm, "unknown"],
    ["too large to be compared as a whole, of known length", large, "known"],
    ["too large to be compared as a whole, of unknown length", large, "unknown"],
  ])("%s: is stored once", async (_, file, extent) => {
    const appliance = await dialect.cloned();
    const wire = await open();
    const send = async () => {
      const body = Buffer.concat([Buffer.from(fileHead), file, Buffer.from(lines("", "--6b002ccc--"))]);
      const isKnown = extent === "known";
      const headers = [dialect.basic, rubyType, `Idempotency-Key: ${appliance}`];
      const said = [...headers, isKnown ? length(body) : "Transfer-Encoding: chunked"];
      await wire.send(request(`POST /api/v2/user/files?appliance_id=${appliance}`, { headers: said }));
      await (isKnown ? wire.send(body) : sendChunks(wire, slices(body, 70_000)));
      return await wire.answer();
    };

    const [first, second] = [await send(), await send()];

    for (const answer of [first, second]) expectDocument(answer);
    expect(first.element("size")).toBe(String(file.length));
    expect(second.text).toBe(first.text);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([undefined, "true"]);
    const list = await ask(`GET /api/v2/user/files?appliance_id=${appliance}`);
    expect(list.text.match(/<file>/g)).toHaveLength(1);
  });
});

describe("a POST with an Idempotency-Key", () => {
  it("is done once, whenever the connection breaks before its answer", async () => {
    for (const afterMs of [0, 2, 5, 10, 20, 40]) {
      const name = `Broken-off-${afterMs}`;
      const line = `POST /api/v2/user/appliances?clone_from=1&name=${name}`;
      const headers = [dialect.basic, `Idempotency-Key: ${name}`, "Content-Length: 0"];
      const wire = await open();
      await wire.send(request(line, { headers }));
      await sleep(afterMs);
      wire.close();

      const answer = await until(`${name} is there`, 10, async () => {
        const again = await ask(line, { headers: headers.slice(1) });
        return again.status === 200 ? again : undefined;
      });

      expect(answer.element("name")).toBe(name);
      const { text } = await ask("GET /api/v2/user/appliances");
      expect(text.split(`<name>${name}</name>`)).toHaveLength(2);
    }
  });
});

const fileHead = lines("--6b002ccc", 'Content-Disposition: form-data; name="file"; filename="data"', "");

describe("lengths", () => {
  it.each(["", "Accept-Encoding: gzip", "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3"])(
    "stand in every answer, whatever encodings are accepted: %s",
    async (header) => {
      const said = { headers: header === "" ? [] : [header] };
      for (const path of ["account", "template_sets", "appliances/1", "appliances/0", "nothing"]) {
        const answer = await ask(`GET /api/v2/user/${path}`, said);
        expectDocument(answer, answer.statusLine);

        const head = await ask(`HEAD /api/v2/user/${path}`, said, "HEAD");
        expect([head.statusLine, head.headers.get("content-length")]).toEqual([
          answer.statusLine,
          answer.headers.get("content-length"),
        ]);
      }
    },
  );

  it("are the same for HEAD of pages, files and what is not there", async () => {
    for (const path of ["/", "/user/show_api_key", "/repositories/tiny/main/repodata/repomd.xml", "/download/x/y"]) {
      const [get, head] = [await ask(`GET ${path}`), await ask(`HEAD ${path}`, {}, "HEAD")];

      expect(get.body.length).toBeGreaterThan(0);
      expect([head.statusLine, head.headers.get("content-length")]).toEqual([get.statusLine, String(get.body.length)]);
    }
  });

  it("suseviclient, wget: a file is never compressed, and its status line is the literal one", async () => {
    const path = "/repositories/tiny/main/repodata/repomd.xml";

    const answer = await ask(`GET ${path}`, { headers: ["Accept-Encoding: gzip, deflate"] });

    expect(answer.statusLine).toBe("HTTP/1.1 200 OK");
    expect(answer.headers.get("content-length")).toBe(String(answer.body.length));
    expect(answer.headers.get("content-encoding") ?? "identity").toBe("identity");
    expect(answer.text.startsWith("<?xml")).toBe(true);
    const part = await ask(`GET ${path}`, { headers: ["Accept-Encoding: gzip", "Range: bytes=2-4"] });
    expect([part.statusLine, part.text]).toEqual(["HTTP/1.1 206 Partial Content", "xml"]);
  });
});

describe("wrong keys", () => {
  it("are refused untried after some, whatever address the client claims, and valid ones go on", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 25 && statuses.at(-1) !== 429; n += 1) {
      const claimed = [
        `MF-CF-Blob: {"clientIp":"192.0.2.${n}"}`,
        `CF-Connecting-IP: 192.0.2.${n}`,
        `X-Forwarded-For: 192.0.2.${n}`,
      ];
      const headers = [`Authorization: Basic ${btoa(`nobody:wrong ${n}`)}`, ...claimed];
      const wire = await open();
      await wire.send(request("GET /api/v2/user/account", { headers }));
      const answer = await wire.answer();
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get("retry-after")).toBe("60");
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);

    const wire = await open();
    await wire.send(account());
    expectDocument(await wire.answer());
  });
});
