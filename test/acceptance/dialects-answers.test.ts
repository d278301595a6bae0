import { beforeAll, describe, expect, it } from "vitest";
import { expectDocument, startDialect, type Dialect } from "./support/dialect.ts";
import { request } from "./support/wire.ts";

/**
 * Lengths and status lines of answers, and the limit on wrong keys, as HTTP/1.1 clients see them (compatibility.md,
 * "Connections", "Credentials").
 */

let dialect: Dialect;
let ask: Dialect["ask"];

beforeAll(async () => {
  dialect = await startDialect("answers");
  ask = dialect.ask;
});

describe("the length of an answer", () => {
  it.each(["", "Accept-Encoding: gzip", "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3"])(
    "is always sent, whatever encodings the client accepts: %s",
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

  it("is the same for HEAD of pages, files and missing paths", async () => {
    for (const path of ["/", "/user/show_api_key", "/repositories/tiny/main/repodata/repomd.xml", "/download/x/y"]) {
      const [get, head] = [await ask(`GET ${path}`), await ask(`HEAD ${path}`, {}, "HEAD")];

      expect(get.body.length).toBeGreaterThan(0);
      expect([head.statusLine, head.headers.get("content-length")]).toEqual([get.statusLine, String(get.body.length)]);
    }
  });

  it("is a file's own, uncompressed, with the exact status line", async () => {
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
  it("are soon refused unchecked, from any claimed address; valid ones work", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 25 && statuses.at(-1) !== 429; n += 1) {
      const claimed = [
        `MF-CF-Blob: {"clientIp":"192.0.2.${n}"}`,
        `CF-Connecting-IP: 192.0.2.${n}`,
        `X-Forwarded-For: 192.0.2.${n}`,
      ];
      const headers = [`Authorization: Basic ${btoa(`nobody:wrong ${n}`)}`, ...claimed];
      const wire = await dialect.open();
      await wire.send(request("GET /api/v2/user/account", { headers }));
      const answer = await wire.answer();
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get("retry-after")).toBe("60");
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);

    const wire = await dialect.open();
    await wire.send(request("GET /api/v2/user/account", { headers: [dialect.basic] }));
    expectDocument(await wire.answer());
  });
});
