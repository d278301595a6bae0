import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/**
 * Sends a request to a guest's web server at 127.0.0.1, as curl and browsers do for *.localhost. Node would use the
 * host's resolver.
 */
export async function visitGuest(url: string, { method = "GET", body }: { method?: string; body?: Buffer } = {}) {
  const { host, port, pathname, search } = new URL(url);
  const asked = request({ host: "127.0.0.1", port, method, path: pathname + search, headers: { host } }).end(body);
  const [answer]: IncomingMessage[] = await once(asked, "response");
  if (!answer) throw new Error(`${url} does not answer`);
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response(await buffer(answer), { status: answer.statusCode ?? 0, headers });
}
