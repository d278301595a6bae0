/**
 * While a test waits for a program with execFileSync, it does not notice that the service closes an idle connection. So
 * each request first gives Node a turn of its loop. Otherwise the request would fail with "other side closed".
 */
const { fetch: fetchAtOnce } = globalThis;

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

globalThis.fetch = async (input, init) => {
  await turnOfTheLoop(); // the first may be the rest of a turn
  await turnOfTheLoop();
  return await fetchAtOnce(input, init);
};
