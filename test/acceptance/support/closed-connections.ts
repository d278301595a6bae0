/**
 * Each request of these tests has its own connection. A test that waits for a program with execFileSync does not see that the
 * service closes an idle connection meanwhile, and the next request on it would fail with "other side closed".
 */
const { fetch: fetchOnKept } = globalThis;

globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.set("connection", "close");
  return fetchOnKept(request);
};
