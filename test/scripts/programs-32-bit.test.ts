import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { interpreterRule } from "../../scripts/launch/programs-32-bit.ts";

it("is the rule that operators write by hand", () => {
  const documented = readFileSync("docs/operations/agents.md", "utf8").match(/^ *:kiln-i386:.*$/m);
  expect(documented?.[0].trim()).toBe(interpreterRule);
});
