import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkKinds, kindsOfChecks } from "#lib/contract/index";

it("has a line in the style for each field that only some kinds of checks use", () => {
  const css = readFileSync(new URL("../../src/web/style/components/fields.css", import.meta.url), "utf8");
  const used = new Set(checkKinds.flatMap((kind) => Object.keys(kindsOfChecks[kind].fields)));

  const hidden = [...css.matchAll(/data-used-with="check-(\w+)"/g)].map(([, field]) => field);

  expect(hidden.toSorted()).toEqual([...used].toSorted());
});
