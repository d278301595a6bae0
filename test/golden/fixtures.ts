import { expect } from "vitest";
import { shapeOf } from "./shape.ts";

const documents = import.meta.glob("./fixtures/*.xml", { query: "?raw", import: "default", eager: true });

/** Names of the fixtures, which are those of the specification's examples. */
export const fixtureNames = Object.keys(documents).map((path) => path.replace(/^.*\/|\.xml$/g, ""));

/** The document that stands for every one of its kind: element order, attributes, what is there and what it holds. */
export function fixture(name: string): string {
  const document = documents[`./fixtures/${name}.xml`];
  if (document === undefined) throw new Error(`there is no fixture ${name}`);
  return document;
}

/** That an answer is like the fixture in everything but its values. */
export async function expectLike(name: string, answer: Response, status = 200): Promise<void> {
  const document = await answer.text();
  expect(answer.status, document).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  expect(shapeOf(document)).toBe(shapeOf(fixture(name)));
}
