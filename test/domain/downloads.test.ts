import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openerFor } from "#domain/operation/downloads";
import { stalledMs } from "#storage/blob-stream";

const partBytes = 5 * 2 ** 20;
const size = 3 * partBytes;
const key = "test/download";

/** Stores the file in parts, as the service stores large files. */
beforeEach(async () => {
  const upload = await env.BLOBS.createMultipartUpload(key);
  const parts = [1, 2, 3].map((n) => upload.uploadPart(n, new Uint8Array(partBytes).fill(n)));
  await upload.complete(await Promise.all(parts));
});
afterEach(() => vi.useRealTimers());

/** Counts the bytes that are read from R2. */
function counting() {
  const asked: number[] = [];
  const get = (name: string, options: { range: { offset: number; length: number } }) => {
    asked.push(options.range.length);
    return env.BLOBS.get(name, options);
  };
  return { asked, BLOBS: { get } as unknown as R2Bucket, MODE: "embedded" as const };
}

const whole = { offset: 0, length: size };
let last = 0;
const newReader = () => ({ address: `192.0.2.${++last}` });
const opened = async (at: Pick<Env, "BLOBS" | "MODE">, reader?: { address: string; accountId?: number }) =>
  (await openerFor(at, reader)(key)(whole))?.body as ReadableStream<Uint8Array>;

describe("a download on one machine", () => {
  it("reads no more of the blob than its reader takes", async () => {
    const at = counting();
    const reader = (await opened(at, newReader())).getReader();
    await reader.read();
    await scheduler.wait(50);
    expect(at.asked).toEqual([2 ** 19]);
    await reader.cancel();
  });

  it("has exactly the bytes of its range", async () => {
    const range = { offset: partBytes - 10, length: partBytes + 20 };
    const bytes = await new Response((await openerFor(env, newReader())(key)(range))?.body).bytes();
    expect(bytes.byteLength).toBe(range.length);
    expect([bytes[9], bytes[10], bytes[partBytes + 9], bytes[partBytes + 10]]).toEqual([1, 2, 2, 3]);
  });

  it("never mixes two versions of a file", async () => {
    const body = await opened(env, newReader());
    await env.BLOBS.put(key, new Uint8Array(size));
    await expect(new Response(body).bytes()).rejects.toThrow(/was replaced/);
  });

  it("ends if its reader takes nothing for 30 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const body = await opened(env, newReader());
    await vi.advanceTimersByTimeAsync(stalledMs);
    vi.useRealTimers();
    await expect(new Response(body).bytes()).rejects.toThrow();
  });

  it("goes on if its reader takes something before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reader = (await opened(env, newReader())).getReader();
    await vi.advanceTimersByTimeAsync(stalledMs - 1);
    vi.useRealTimers();
    let bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.byteLength;
    expect(bytes).toBe(size);
  });
});

describe("downloads at the same time", () => {
  const most = 32;

  it("are limited for one address, and for one account", async () => {
    const [address, accountId] = ["192.0.2.200", 4711];
    const open = await Promise.all(Array.from({ length: most }, () => opened(env, { address, accountId })));
    const refused = { reason: "too_fast", retryAfterSeconds: 30 };
    await expect(opened(env, { address })).rejects.toMatchObject(refused);
    await expect(opened(env, { address: "192.0.2.201", accountId })).rejects.toMatchObject(refused);
    open.push(await opened(env, { address: "192.0.2.201" }));
    await Promise.all(open.map((body) => body.cancel()));
  });

  it("are not limited for agents", async () => {
    const open = await Promise.all(Array.from({ length: most + 1 }, () => opened(env)));
    await Promise.all(open.map((body) => body.cancel()));
  });

  it("make room when one has ended", async () => {
    const reader = newReader();
    const open = await Promise.all(Array.from({ length: most }, () => opened(env, reader)));
    await new Response(open.pop()).bytes();
    open.push(await opened(env, reader));
    await Promise.all(open.map((body) => body.cancel()));
  });
});
