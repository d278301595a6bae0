import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { requestBody, RequestBody } from "#http/request-body";
import { patienceMs } from "../support/patience.ts";

const kib = 1024;

/** A body that arrives as its writer writes it. */
function arriving(deadlineMs: number) {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  return { body: new RequestBody(readable, deadlineMs), writer };
}

const sizes = async (stream: ReadableStream<Uint8Array>): Promise<number[]> => {
  const found: number[] = [];
  for await (const chunk of stream) found.push(chunk.byteLength);
  return found;
};

describe("a body", () => {
  it("is read in large chunks", async () => {
    const { body, writer } = arriving(60_000);
    const sent = (async () => {
      for (let at = 0; at < 300; at++) await writer.write(new Uint8Array(kib));
      await writer.close();
    })();

    expect(await sizes(body.stream)).toEqual([128 * kib, 128 * kib, 44 * kib]);
    await sent;
    expect(body.fault).toBeUndefined();
  });

  it("may be empty", async () => {
    const { body, writer } = arriving(60_000);
    await Promise.all([expect(sizes(body.stream)).resolves.toEqual([]), writer.close()]);
  });

  it("ends with 408 if a byte comes now and then", async () => {
    const { body, writer } = arriving(100);
    const timer = setInterval(() => void writer.write(new Uint8Array(1)).catch(() => {}), 10);

    await expect(sizes(body.stream)).rejects.toThrow("too slowly");
    clearInterval(timer);

    expect(body.fault?.status).toBe(408);
  });

  it("may take longer than the deadline if all of it keeps coming", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { body, writer } = arriving(400);
    const sent = (async () => {
      for (let at = 0; at < 8; at++) {
        await writer.write(new Uint8Array(64 * kib));
        await vi.advanceTimersByTimeAsync(100);
      }
      await writer.close();
    })();

    expect((await sizes(body.stream)).reduce((all, size) => all + size)).toBe(8 * 64 * kib);
    await sent;
  });

  it("ends with 400 if its client disconnects", async () => {
    const { body, writer } = arriving(60_000);
    const read = expect(sizes(body.stream)).rejects.toThrow("ended before its body");
    await writer.write(new Uint8Array(1));
    await writer.abort(new Error("Network connection lost."));

    await read;
    expect(body.fault?.status).toBe(400);
  });

  it("that is left by its reader is discarded up to a limit", async () => {
    const { body, writer } = arriving(60_000);
    let written = 0;
    const sent = (async () => {
      for (;;) {
        await writer.write(new Uint8Array(64 * kib));
        written += 64 * kib;
      }
    })().catch(() => {});
    for await (const chunk of body.stream) if (chunk.byteLength > 0) break;
    await body.discard(512 * kib);
    await vi.waitFor(() => expect(written).toBeGreaterThanOrEqual(640 * kib), patienceMs);
    expect(written).toBeLessThanOrEqual(704 * kib);
    await writer.abort();
    await sent;
  });
});

/** The number of bytes that were requested of a body of 512 KiB. */
async function readOf(path: string, expectation: Record<string, string>): Promise<number> {
  let bytes = 0;
  const body = new ReadableStream({
    type: "bytes",
    pull: (controller: ReadableByteStreamController) => {
      if (bytes === 512 * kib) return controller.close();
      bytes += 64 * kib;
      return controller.enqueue(new Uint8Array(64 * kib));
    },
  });
  const app = new Hono<{ Bindings: Env }>()
    .use(requestBody)
    .post("/at-once", (c) => c.text("no", 400))
    .post("/midway", async (c) => {
      await c.req.raw.body?.getReader().read();
      return c.text("no", 400);
    });
  const answer = await app.request(path, { method: "POST", headers: expectation, body }, env);
  expect(answer.status).toBe(400);
  return bytes;
}

describe("a body whose request is refused", () => {
  it("is read to its end, because its client may send all of it before it reads the answer", async () => {
    expect(await readOf("/at-once", {})).toBe(512 * kib);
    expect(await readOf("/midway", {})).toBe(512 * kib);
  });

  it("is not requested from a client that waits for 100 Continue, unless it has sent a part", async () => {
    const expectation = { expect: "100-continue" };
    expect(await readOf("/at-once", expectation)).toBeLessThanOrEqual(64 * kib);
    expect(await readOf("/midway", expectation)).toBe(512 * kib);
  });
});
