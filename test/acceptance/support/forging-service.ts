import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers like a service, but changes the files whose path matches. */
export async function forgingService(
  service: string,
  changed: RegExp,
  forge: (bytes: Buffer) => Buffer,
): Promise<{ url: string } & Disposable> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? "/";
      const answer = await fetch(service + path, { headers: { "accept-encoding": "identity" } });
      const bytes = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status).end(changed.test(path) && answer.ok ? forge(bytes) : bytes);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}
