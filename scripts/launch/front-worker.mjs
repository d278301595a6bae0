// Runs in workerd between the service's own socket and miniflare's router (own-socket.ts). It does not read bodies,
// because workerd forwards them on its own.

/** workerd cannot pass a request with more than 2,000 headers from one Worker to the next. */
const maxHeaders = 1_000;

export default {
  fetch(request, env) {
    if (!hasUsableUrl(request)) {
      return refusal(400, "This request has no valid URL. Send one Host header, and a path that begins with a slash.");
    }
    if ([...request.headers.keys()].length > maxHeaders) {
      return refusal(431, `A request may have at most ${maxHeaders} headers.`);
    }
    return env.SERVICE.fetch(request);
  },
};

/**
 * In the URL of a request, two Host headers become a host `a, b`, and the path `*` becomes a part of the host. The URL
 * class accepts more than fetch does, such as `a%61`.
 */
const hasUsableUrl = ({ url }) =>
  /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?([/?#]|$)/i.test(url) && URL.canParse(url);

const refusal = (status, message) =>
  new Response(`${message}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
