import { createServer, request } from "node:http";
import { once } from "node:events";

/** An HTTP proxy on loopback, like apt-cacher-ng. `mirrors` maps each host that it knows to a port of this machine. */
export async function httpProxy(mirrors: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const server = createServer((from, to) => {
    asked.push(from.url ?? "");
    const url = URL.parse(from.url ?? "");
    const port = url ? mirrors[url.host] : undefined;
    if (!url || port === undefined) return void to.writeHead(502).end("no such mirror");
    const passed = request({ host: "127.0.0.1", port, path: url.pathname, headers: { host: url.host } }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    passed.on("error", () => to.writeHead(502).end());
    from.pipe(passed);
  });
  server.on("connect", (from, socket) => {
    asked.push(`CONNECT ${from.url}`);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, port, asked, [Symbol.dispose]: () => void server.close() };
}
