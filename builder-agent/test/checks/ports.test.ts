import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { expect, it } from "vitest";
import { getPage } from "../../src/checks/ports.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** Like the certificate that Debian makes for a new machine: self-signed, for the machine's own name. */
async function ownCertificate(dir: string) {
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const about = ["-subj", "/CN=desk", "-days", "1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...about], {
    stdio: "ignore",
  });
  return { key: await readFile(key), cert: await readFile(cert) };
}

it("gets a page over HTTPS from a machine that has signed its certificate itself", async () => {
  await using dir = await temporaryDir();
  const server = createServer(await ownCertificate(dir.path), (request, response) => {
    response.statusCode = 203;
    response.end(`${request.headers.host} ${request.url}`);
  });
  const path = join(dir.path, "web.sock");
  server.listen(path);
  await once(server, "listening");
  const page = (scheme: "http" | "https", port: number) => getPage({ path }, { scheme, port, path: "/status" }, 10_000);

  try {
    expect(await page("https", 443)).toEqual({ status: 203, body: "10.0.2.15 /status" });
    expect(await page("https", 8443)).toEqual({ status: 203, body: "10.0.2.15:8443 /status" });
    await expect(page("http", 443)).rejects.toThrow();
  } finally {
    server.close();
  }
});

it("reads only the beginning of a page that has no end", async () => {
  await using dir = await temporaryDir();
  const part = "a".repeat(64 * 1024);
  const server = createPlainServer((_, response) => {
    const more = () => {
      while (response.writable && response.write(part));
    };
    response.on("drain", more);
    more();
  });
  const path = join(dir.path, "web.sock");
  server.listen(path);
  await once(server, "listening");

  try {
    const { body } = await getPage({ path }, { scheme: "http", port: 80, path: "/" }, 60_000);
    expect(body).toHaveLength(256 * 1024);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
