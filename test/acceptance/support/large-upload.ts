import { createHash, randomBytes } from "node:crypto";
import { Upload, type FileSource, type HttpResponse } from "tus-js-client";
import type { Ready } from "./service.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

const blockBytes = 2 ** 20;

/** A file of any size that uses neither disk nor memory. All of its blocks differ. */
export class GeneratedFile implements FileSource {
  readonly size: number;
  readonly #seed = randomBytes(blockBytes);

  constructor(size: number) {
    this.size = size;
  }

  async slice(start: number, end: number) {
    const to = Math.min(end, this.size);
    const value = Buffer.alloc(to - start);
    for (let at = start; at < to;) {
      const block = this.#block(Math.floor(at / blockBytes));
      at += block.copy(value, at - start, at % blockBytes);
    }
    return { value: Object.assign(value, { size: value.byteLength }), done: to >= this.size };
  }

  close(): void {}

  sha256(): string {
    const hash = createHash("sha256");
    for (let at = 0; at < this.size; at += blockBytes) {
      hash.update(this.#block(at / blockBytes).subarray(0, this.size - at));
    }
    return hash.digest("hex");
  }

  #block(number: number): Buffer {
    const block = Buffer.from(this.#seed);
    block.writeUInt32BE(number);
    return block;
  }
}

/** Uploads a file over a connection that is cut, like a program that knows tus but not this service. */
export async function uploadOver(
  proxy: TcpProxy,
  { username, api_key: apiKey }: Ready,
  file: GeneratedFile,
  {
    query,
    chunkSize,
    cuts,
  }: { query: Record<string, string>; chunkSize: number; cuts: { everyBytes: number; times: number } },
): Promise<{ url: string; lastResponse: HttpResponse }> {
  proxy.cutAt({ pattern: /^PATCH /m, afterBytes: cuts.everyBytes, times: cuts.times });
  return await new Promise((resolve, reject) => {
    const upload = new Upload(Buffer.alloc(0), {
      endpoint: `${proxy.url}/api/v2/user/uploads?${new URLSearchParams(query)}`,
      headers: { Authorization: `Basic ${btoa(`${username}:${apiKey}`)}` },
      metadata: { filename: "large.bin" },
      fileReader: { openFile: async () => file },
      chunkSize,
      retryDelays: [0, 100, 500, 1000, 3000, 5000, 10_000],
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve({ url: upload.url ?? "", lastResponse }),
    });
    upload.start();
  });
}

/** SHA-256 of the answer's body from a URL. */
export async function sha256At(url: string, { username, api_key: apiKey }: Ready): Promise<string> {
  const authorization = `Basic ${btoa(`${username}:${apiKey}`)}`;
  const { body } = await fetch(url, { headers: { authorization } });
  const hash = createHash("sha256");
  for await (const chunk of body ?? []) hash.update(chunk);
  return hash.digest("hex");
}
