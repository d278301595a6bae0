import { beforeAll, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";

/** Every address that answers GET; those of an id with one that is there, where the template's 1 is not. */
const paths = [...new Set(app.routes.filter(({ method }) => method === "GET").map(({ path }) => path))];
// Of these GET itself opens something that lasts.
const withoutAnswer = /socket|\/control$|\/viewers\/|\/events$/;

let tux: Client;
let applianceId: number;

beforeAll(async () => {
  await loadTemplates();
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

const filled = (path: string) =>
  path
    .replace("/appliances/:id", `/appliances/${applianceId}`)
    .replace(/:name\b/, "default")
    .replace("/*", "/nothing.js")
    .replace(/:\w+(\{[^}]*\})?/g, "1");

const ask = (method: string, path: string) =>
  visit(`${path}?appliance_id=${applianceId}&base_system=tiny-1.0&q=hello`, {
    method,
    headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
  });

describe("HEAD", () => {
  it.each(paths.filter((path) => !withoutAnswer.test(path)))("%s says what GET would", async (path) => {
    const get = await ask("GET", filled(path));
    const head = await ask("HEAD", filled(path));

    expect(head.status).toBe(get.status);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    expect(head.headers.get("content-length")).toBe(String((await get.arrayBuffer()).byteLength));
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  it("of a stream without end says no length, and opens none", async () => {
    const head = await ask("HEAD", "/api/v2/user/events");

    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect([head.headers.get("content-length"), (await head.arrayBuffer()).byteLength]).toEqual([null, 0]);
  });

  it("finds the addresses of the API, of the pages and of files", () => {
    expect(paths).toEqual(expect.arrayContaining(["/api/v1/user/builds", "/api/v2/user/appliances/:id", "/"]));
    expect(paths.length).toBeGreaterThan(40);
  });
});
