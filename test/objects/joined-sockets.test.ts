import { expect, it } from "vitest";
import { closingLike, gone } from "../../src/objects/joined-sockets.ts";

it.each([
  { by: 1000, code: 1000, reason: "done" },
  { by: 4001, code: 4001, reason: "done" },
  // No side sends these: 1005 means a close without a code, and 1006 a lost connection.
  { by: 1005, code: 1000, reason: "done" },
  { by: 1006, ...gone },
])("a socket is closed with $code after its peer was closed with $by", ({ by, code, reason }) => {
  expect(closingLike(by, "done")).toEqual({ code, reason });
});
