import { createReadStream, statSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";

/** A plain HTTP server for one folder, on a free port of this machine. */
export interface FileServer extends AsyncDisposable {
  /** 127.0.0.1:PORT */
  host: string;
}

export async function serveFiles(folder: string): Promise<FileServer> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    send(join(folder, path), response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the file server has no port");
  return {
    host: `127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(file: string, response: ServerResponse): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-length": found.size, "last-modified": found.mtime.toUTCString() });
  await pipeline(createReadStream(file), response);
}
