import * as fc from "../support/properties.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { refusalCodes } from "#domain/refusal";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

/** The answer to any document is also a valid document: the call's own, or an error of the specification. */

let tux: Client;
let appliance: string;

beforeAll(async () => {
  tux = await signedIn();
  appliance = `/appliances/${await createAppliance(tux)}`;
});

const value = fc.oneof(
  fc.constantFrom(
    "",
    "1",
    "2",
    "0",
    "-1",
    "1.5",
    "999999999999999999999",
    "true",
    "hello",
    "base",
    "no-such",
    "a b",
    "é",
    "../..",
    "&amp;",
    "&#0;",
    "&nbsp;",
    "<![CDATA[hello]]>",
    "'; DROP TABLE builds; --",
    "x".repeat(5000),
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Documents with these names, nested at random, most of them well-formed. */
function documents(root: string, names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...names) },
    fc.constantFrom("nonsense", "__proto__", "x:y", "1"),
  );
  const attribute = fc
    .tuple(fc.constantFrom("version", "type", "id", "count"), value)
    .map(([key, text]) => ` ${key}="${text}"`);
  const node: fc.Memo<string> = fc.memo((depth) => {
    const content =
      depth <= 1
        ? value
        : fc.oneof(
            value,
            fc.array(node(depth - 1), { maxLength: 3 }).map((all) => all.join("")),
          );
    return fc
      .tuple(name, fc.option(attribute, { nil: "" }), content)
      .map(([one, given, inside]) => `<${one}${given}>${inside}</${one}>`);
  });
  const around = fc.constantFrom(
    ["", ""],
    ['<?xml version="1.0"?>', "\n"],
    ["\uFEFF", ""],
    [" ", "<!-- a -->"],
    ["", "<a/>"],
  );
  return fc
    .tuple(around, fc.array(node(3), { maxLength: 5 }))
    .map(([[before, behind], inside]) => `${before}<${root}>${inside.join("")}</${root}>${behind}`);
}

const calls: [path: string, root: string, names: string[]][] = [
  ["/software", "software", ["package", "pattern", "patterns"]],
  ["/repositories", "repositories", ["repository", "id", "name", "base_url"]],
  ["/configuration", "configuration", ["name", "type", "tags", "tag", "locale", "timezone", "location", "network"]],
  [
    "/configuration",
    "configuration",
    ["firewall", "enabled", "open_port", "users", "user", "uid", "password", "shell"],
  ],
  ["/configuration", "configuration", ["settings", "disk_size", "memory_size", "lvm", "volumes", "volume", "size"]],
  [
    "/configuration",
    "configuration",
    ["scripts", "build", "boot", "script", "eulas", "eula", "autostarts", "databases"],
  ],
];

describe("any document", () => {
  it.each(calls)("is accepted or refused by PUT %s", async (path, root, names) => {
    const document = fc.oneof({ weight: 8, arbitrary: documents(root, names) }, fc.string({ unit: "binary" }));

    await fc.assert(
      fc.asyncProperty(document, async (body) => {
        const answer = await tux.put(appliance + path, body);
        if (answer.status === 200) expect(await readXml(answer)).toHaveProperty(root);
        else await expectRefusal(answer);
      }),
      { numRuns: 50 },
    );
  });

  it.each(calls)("changes nothing if PUT %s refuses it", async (path, root, names) => {
    await fc.assert(
      fc.asyncProperty(documents(root, [...names, "nonsense"]), async (body) => {
        const before = await (await tux.get(appliance + path)).text();
        const answer = await tux.put(appliance + path, body);
        const after = await (await tux.get(appliance + path)).text();
        if (answer.status !== 200) expect(after).toBe(before);
      }),
      { numRuns: 20 },
    );
  });
});

async function expectRefusal(answer: Response): Promise<void> {
  const code = /<code>(\w+)<\/code>/.exec(await answer.clone().text())?.[1] ?? "";
  expect(refusalCodes).toContain(code);
  expect(code).not.toBe("internal_error");
  await expectError(answer, 400, code);
}
