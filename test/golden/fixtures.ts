import { expect } from "vitest";
import { shapeOf } from "./shape.ts";

const documents = import.meta.glob("./fixtures/*.xml", { query: "?raw", import: "default", eager: true });

/** Names of the fixtures: the same as the specification's examples. */
export const fixtureNames = Object.keys(documents).map((path) => path.replace(/^.*\/|\.xml$/g, ""));

/** The example document of a kind. It defines the element order, the attributes, and the kinds of value. */
export function fixture(name: string): string {
  const document = documents[`./fixtures/${name}.xml`];
  if (document === undefined) throw new Error(`there is no fixture ${name}`);
  return document;
}

/** Expects an answer to equal the fixture in everything but its values. */
export async function expectLike(name: string, answer: Response, status = 200): Promise<void> {
  const document = await answer.text();
  expect(answer.status, document).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  expect(shapeOf(document)).toBe(shapeOf(fixture(name)));
}
