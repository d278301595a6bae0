import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { collect } from "../src/receive.ts";

const fourBytes = () => Readable.from([Buffer.from("ab"), Buffer.from("cd")]);

it("collects a body of at most so many bytes", async () => {
  expect(await collect(fourBytes(), 4)).toEqual(Buffer.from("abcd"));
  expect(await collect(fourBytes(), 3)).toBeUndefined();
  expect(await collect(null, 0)).toEqual(Buffer.alloc(0));
});
