import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { boundedLines } from "../../src/testdrive/bounded-lines.ts";
import { openQmp } from "../../src/testdrive/qmp.ts";
import { temporaryDir } from "../support/agent-place.ts";

const mebi = Buffer.alloc(1024 * 1024, "x");

describe("the lines of QEMU", () => {
  it("may have a mebibyte", async () => {
    const stream = new PassThrough();
    const lines: string[] = [];
    const reading = boundedLines(stream).on("line", (line) => lines.push(line));
    for (const bytes of ["one\n", mebi, "\ntwo\n", mebi, "\n"]) stream.write(bytes);
    stream.end();
    await once(reading, "close");
    expect(lines.map(({ length }) => length)).toEqual([3, mebi.length, 3, mebi.length]);
  });

  it("end the stream if one is longer", async () => {
    const stream = new PassThrough();
    boundedLines(stream);
    for (const bytes of ["one\n", mebi, "x"]) stream.write(bytes);
    await once(stream, "close");
    expect(stream.destroyed).toBe(true);
  });

  it("end its control connection if one is longer", async () => {
    await using dir = await temporaryDir();
    const path = join(dir.path, "qmp.sock");
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.write(Buffer.concat([mebi, mebi]));
    }).listen(path);
    await once(server, "listening");
    const opened = openQmp(path, () => {}, new AbortController().signal);
    await expect(opened).rejects.toThrow("QEMU closed its control connection");
    server.close();
  });
});
