import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { signedIn } from "../support/client.ts";

const crowd = async (ask: () => Promise<Response>) => await Promise.all(Array.from({ length: 300 }, ask));
const ask = (path: string) => () =>
  exports.default.fetch(`https://kiln.test${path}`, { headers: { accept: "text/html" } });

async function expectSomeRefused(answers: readonly Response[], says: string) {
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(10);
  expect(refused.every((answer) => /^[2-5]$/.test(answer.headers.get("retry-after") ?? ""))).toBe(true);
  const [text] = await Promise.all(refused.map((answer) => answer.text()));
  expect(text).toContain(says);
}

it("refuses calls beyond those that may wait", async () => {
  const tux = await signedIn();
  await expectSomeRefused(await crowd(() => tux.get("/appliances")), "<code>unknown_error</code>");
});

it("refuses pages beyond those that may wait", async () => {
  await expectSomeRefused(await crowd(ask("/gallery")), "Too many requests at the moment.");
});

it("refuses no agent", async () => {
  const answers = await crowd(ask("/agent/hello"));
  expect(answers.filter(({ status }) => status === 429)).toEqual([]);
});
