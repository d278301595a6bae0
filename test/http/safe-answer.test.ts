import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { uploadFile } from "../support/files.ts";
import { expectSafe } from "../support/safe-answer.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** Every route except middleware, with placeholders as parameters. */
const routes = app.routes
  .filter(({ path }) => !path.endsWith("/*") || path.startsWith("/testdrives/"))
  .map(({ method, path }) => ({
    method: methods.find((each) => each === method) ?? "GET",
    path: path.replace(/:\w+(\{[^}]*\})?/g, "1").replace("*", "x"),
  }));
const every = new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
const byFolder = Map.groupBy(every.values(), ({ path }) => path.split("/").slice(0, 3).join("/"));
const bodyOf = (method: string) => (["POST", "PUT", "PATCH"].includes(method) ? { body: "x" } : {});

let tux: Client;

beforeAll(async () => {
  tux = await signedIn();
});

const basicOf = ({ username, apiKey }: Client) => `Basic ${btoa(`${username}:${apiKey}`)}`;

it("knows the routes of every entry point", () => {
  const folders = new Set([...every.values()].map(({ path }) => path.split("/")[1]));
  expect([...folders]).toEqual(
    expect.arrayContaining(["api", "admin", "agent", "client", "download", "repositories", "testdrive", "testdrives"]),
  );
});

it.each([...byFolder])("every call below %s answers safely to everyone", async (_, calls) => {
  for (const { method, path } of calls) {
    const callers = ["", basicOf(await signedIn()), `Bearer ${env.ADMIN_SECRET}`, `Bearer ${env.AGENT_TOKEN}`];
    for (const authorization of callers) {
      const answer = await visit(path, { method, headers: { authorization }, redirect: "manual", ...bodyOf(method) });
      await answer.body?.cancel(); // a stream of events has no end

      expectSafe(answer, `${method} ${path} ${authorization}`);
    }
  }
});

describe("an answer", () => {
  it.each([
    ["to an unknown path", "GET /nothing", {}, 404],
    ["to a wrong method", "PUT /api/v2/user/account", {}, 400],
    ["to a page of another site", "POST /api/v2/user/account", { origin: "https://evil.test" }, 403],
    ["that redirects", "GET /favicon.ico", {}, 302],
    ["of a page", "GET /api/docs", {}, 200],
    ["to HEAD", "HEAD /api/docs", {}, 200],
    ["of an unknown download", "GET /download/1/1", {}, 404],
  ])("%s is safe", async (_, line, headers, status) => {
    const [method = "", path = ""] = line.split(" ");
    const answer = await visit(path, {
      method,
      headers: { authorization: basicOf(tux), ...headers },
      redirect: "manual",
    });
    await answer.body?.cancel();

    expect(answer.status).toBe(status);
    expectSafe(answer);
  });

  it("with a user's file is saved, never shown, also in part and unchanged", async () => {
    const { id } = await uploadFile(tux, await createAppliance(tux), "<script>alert(1)</script>");
    const ask = (headers = {}) => tux.get(`/files/${id}/data`, { headers });
    const etag = (await ask()).headers.get("etag") ?? "";

    for (const [headers, status] of [
      [{}, 200],
      [{ range: "bytes=0-1" }, 206],
      [{ range: "bytes=999-" }, 416],
      [{ "if-none-match": etag }, 304],
    ] as const) {
      const answer = await ask(headers);
      expect(answer.status).toBe(status);
      expectSafe(answer);
      expect(answer.headers.get("content-security-policy")).toMatch(/; sandbox$/);
      if (status < 300) expect(answer.headers.get("content-disposition")).toMatch(/^attachment/);
    }
  });

  it("with a file of an image is saved, never shown", async () => {
    const { applianceId, buildId } = await createBuild(tux, undefined, {
      store: fileStoreOf({ "/srv/www/index.html": "<script>alert(1)</script>" }),
    });

    const answer = await tux.get(`/appliances/${applianceId}/image_files?build_id=${buildId}&path=/srv/www/index.html`);

    expect(answer.status).toBe(200);
    expectSafe(answer);
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="index.html"');
  });

  it("with a file of a repository is safe", async () => {
    await env.BLOBS.put("repositories/tiny/page.html", "<script>alert(1)</script>");

    const answer = await visit("/repositories/tiny/page.html");

    expect(answer.status).toBe(200);
    expectSafe(answer);
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
  });

  it("with a script or style of the pages is safe", async () => {
    const html = await (await visit("/")).text();
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? "";

    expectSafe(await env.ASSETS.fetch(`https://kiln.test${style}`));
  });
});
