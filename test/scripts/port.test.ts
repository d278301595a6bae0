import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkPort } from "../../scripts/launch/port.ts";

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

describe("checkPort", () => {
  it("names the owner of a taken port, and what to do", async () => {
    const port = await takenPort();
    await expect(checkPort("127.0.0.1", port)).rejects.toThrow(
      new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use by process ${process.pid} \\(.*--port ${port + 1}`),
    );
  });

  it("detects a port that is taken on all addresses", async () => {
    const server = createServer().listen(0, "0.0.0.0");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    await expect(checkPort("127.0.0.1", typeof address === "object" && address ? address.port : 0)).rejects.toThrow(
      /in use/,
    );
  });

  it("leaves a free port free", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    server.close();
    await once(server, "close");
    await checkPort("127.0.0.1", port);
    await checkPort("127.0.0.1", port);
  });

  it("refuses an address that is not this machine's", async () => {
    // RFC 5737: an address reserved for documentation.
    await expect(checkPort("192.0.2.1", 8787)).rejects.toThrow(/192\.0\.2\.1 is not an address of this machine/);
  });
});
