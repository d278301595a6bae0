import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { large, rpm, sendChunks, slices } from "./support/bodies.ts";
import { expectDocument, rubyType, startDialect, type Dialect } from "./support/dialect.ts";
import { until } from "./support/service.ts";
import { length, lines, request } from "./support/wire.ts";

/** Repeated POSTs on real connections, some of which break off. */

let dialect: Dialect;
let ask: Dialect["ask"];

beforeAll(async () => {
  dialect = await startDialect("idempotency");
  ask = dialect.ask;
});

const fileHead = lines("--6b002ccc", 'Content-Disposition: form-data; name="file"; filename="data"', "");

describe("an upload with an Idempotency-Key", () => {
  it.each<[string, Buffer, "known" | "unknown"]>([
    ["small, of known length", rpm, "known"],
    ["small, of unknown length", rpm, "unknown"],
    ["too large to compare as a whole, of known length", large, "known"],
    ["too large to compare as a whole, of unknown length", large, "unknown"],
  ])("is stored once: %s", async (_, file, extent) => {
    const appliance = await dialect.cloned();
    const wire = await dialect.open();
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
  it("is executed once, whenever the connection breaks before its answer", async () => {
    for (const afterMs of [0, 2, 5, 10, 20, 40]) {
      const name = `Broken-off-${afterMs}`;
      const line = `POST /api/v2/user/appliances?clone_from=1&name=${name}`;
      const headers = [dialect.basic, `Idempotency-Key: ${name}`, "Content-Length: 0"];
      const wire = await dialect.open();
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
