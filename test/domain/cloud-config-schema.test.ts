import { describe, expect, it } from "vitest";
import { firstFault } from "#lib/cloud-config/schema";

/** Counts how often a schema looks for a key in its values. */
function counting(count: number) {
  const looks = { count: 0 };
  const value = () =>
    new Proxy(
      {},
      {
        has: () => {
          looks.count += 1;
          return true;
        },
      },
    );
  return { looks, values: Array.from({ length: count }, value) };
}

describe("a schema of an image's owner", () => {
  it("cannot make the service look for millions of keys", () => {
    const { looks, values } = counting(60);
    const required = Array.from({ length: 200_000 }, () => "a");
    expect(firstFault({ items: { required } }, values)).toBeUndefined();
    expect(looks.count).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ["enum", { enum: Array.from({ length: 15_000 }, () => "a") }],
    ["type", { type: Array.from({ length: 15_000 }, () => "string") }],
    ["$ref", { $ref: `#/${"a/".repeat(1000)}` }],
  ])("is not followed further than its limit in %s", (_, schema) => {
    const wrong = { additionalProperties: false };
    expect(firstFault({ properties: { a: schema, b: schema, c: wrong } }, { a: "a", b: "a", c: { d: 1 } })).toEqual(
      "$ref" in schema ? expect.objectContaining({ path: ["c"] }) : undefined,
    );
  });

  it("shows the deepest fault, and the first of equally deep ones", () => {
    const schema = {
      required: ["z"],
      properties: { a: { type: "string" }, b: { properties: { c: { type: "string" }, d: { type: "string" } } } },
    };
    const value = { a: 1, b: { c: 2, d: 3 } };
    expect(firstFault(schema, value)).toEqual({ path: ["b", "c"], why: "must be text" });
  });
});
