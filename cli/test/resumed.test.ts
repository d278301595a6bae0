import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { downloadTo } from "../src/download/resumed.ts";
import { newMachine } from "./support/machine.ts";

afterEach(() => vi.useRealTimers());

it("closes a connection on which nothing arrives for 30 s, and continues", async () => {
  using machine = newMachine();
  const ranges: (string | undefined)[] = [];
  await using server = createServer((request, response) => {
    ranges.push(request.headers.range);
    if (request.headers.range === undefined) {
      response.writeHead(200, { "content-length": 6 });
      response.write("abc"); // and then nothing more
    } else response.writeHead(206, { "content-length": 3, "content-range": "bytes 3-5/6" }).end("def");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const file = join(machine.folder, "image");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/image`;

  const done = downloadTo(file, url, () => {});
  while (statSync(file, { throwIfNoEntry: false })?.size !== 3) await new Promise(setImmediate);
  vi.advanceTimersByTime(29_000);
  expect(ranges).toEqual([undefined]);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers(); // for the pause before the next attempt
  await done;

  expect(ranges).toEqual([undefined, "bytes=3-"]);
  expect(readFileSync(file, "utf8")).toBe("abcdef");
});
