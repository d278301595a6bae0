import { expect, it } from "vitest";
import { complaints } from "../support/openapi.ts";

const schema = {
  type: "object",
  properties: {
    id: { type: "integer" },
    state: { type: "string", enum: ["ok", "error"] },
    names: { type: "array", items: { type: "string" } },
  },
  required: ["id"],
} as const;
const mutable = structuredClone(schema) as unknown as Parameters<typeof complaints>[1];

// Tests the check that the tests of all calls use.
it.each([
  [{ id: 1, state: "ok", names: ["a"] }, []],
  [{ id: 1 }, []],
  [{ state: "ok" }, ["it.id is missing"]],
  [{ id: "1" }, ['it.id is "1"']],
  [{ id: 1, state: "good" }, ['it.state is "good"']],
  [{ id: 1, names: "a" }, ["it.names is no array"]],
  [{ id: 1, names: [1] }, ["it.names[0] is 1"]],
  [{ id: 1, colour: "red" }, ["it.colour is not described"]],
  [[], ["it is no object"]],
])("for %j reports %j", (value, wrong) => {
  expect(complaints(value, mutable, "it")).toEqual(wrong);
});
