import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { visit } from "../support/client.ts";

it("describes the service and links to the key and the API", async () => {
  const answer = await visit("/");

  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  const html = await answer.text();
  expect(html).toContain("bootable system images");
  expect(html).toContain('href="/user/show_api_key"');
  expect(html).toContain("https://kiln.test/api/v2/user");
});

it("has an icon", async () => {
  const answer = await visit("/favicon.ico", { redirect: "manual" });
  const icon = await env.ASSETS.fetch(`https://kiln.test${answer.headers.get("location")}`);

  expect([answer.status, icon.status]).toEqual([302, 200]);
  expect(icon.headers.get("content-type")).toMatch(/^image\/svg/);
});

it("lets browsers cache its files forever, under names with a hash", async () => {
  const html = await (await visit("/")).text();
  const style = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? "";

  expect(style).toMatch(/-[0-9a-f]{10}\.css$/);
  expect((await env.ASSETS.fetch(`https://kiln.test${style}`)).headers.get("cache-control")).toBe(
    "public, max-age=31536000, immutable",
  );
});
