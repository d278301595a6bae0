import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { groups } from "#api/groups";
import { app } from "../../src/app.ts";
import { makeSample, type Sample, prepareSamples } from "../api/every-call/sample.ts";
import { visit } from "../support/client.ts";

/** Every route that answers GET. */
const paths = [...new Set(app.routes.filter(({ method }) => method === "GET").map(({ path }) => path))];
// For these, GET opens a connection that stays open.
const withoutAnswer = /socket|\/control$|\/viewers\/|\/events$/;
const byFolder = Map.groupBy(
  paths.filter((path) => !withoutAnswer.test(path)),
  (path) => path.split("/").slice(0, 3).join("/"),
);

// These need an agent, a signed URL, a running testdrive, a channel, or something that this catalogue lacks. Without an
// agent, there is no health.
const refused =
  /^[/](?:agent|download|image|machines|repositories|testdrive|agreements|assets)[/]|^[/]log[/]:path|^[/]published[/]:build[/](?!input|stored-packages$)|[/]modified_files|[/]screen$|^[/]admin[/]health$/;
// Without a session, these redirect to the sign-in page.
const isPage = /^[/]testdrive[/].*[/]modified_files[/]archive$|^[/]appliance[/].*[/]screen$/;

/** Omits the patterns of a page's parameters, such as `:id{\d+}`. */
const unconstrained = (path: string) => path.replace(/(?<=:\w+)\{(?:[^{}]|\{[^}]*\})*\}/g, "");
const nameless = (path: string) => path.replace(/:\w+|\{\w+\}/g, "*");
const ofVersion2 = new Set(
  groups
    .flatMap(({ operations }) => operations)
    .filter(({ method, versions }) => method === "GET" && !versions.includes("v1"))
    .map(({ path }) => `/api/v1/user${nameless(path)}`),
);
const isRefused = (path: string) => (refused.test(path) && !isPage.test(path)) || ofVersion2.has(nameless(path));

let sample: Sample;

beforeAll(async () => {
  await prepareSamples();
  sample = await makeSample();
});

/** Values for the parameters of a path, by the preceding words. */
const parameters: [RegExp, string][] = [
  [/(?<=[/]gallery[/]appliances[/]):\w+/, "published"],
  [/(?<=^[/]gallery[/]):\w+/, "published"],
  [/(?<=^[/]published[/]):\w+/, "publishedBuild"],
  [/(?<=[/]appliances[/]):\w+/, "appliance"],
  [/(?<=[/]running_builds[/]):\w+/, "running"],
  [/(?<=[/]builds[/]):\w+/, "build"],
  [/(?<=[/]files[/]):\w+/, "file"],
  [/(?<=[/]gpg_keys[/]):\w+/, "key"],
  [/(?<=[/]repositories[/]):\w+/, "repository"],
  [/(?<=[/]rpms[/]):\w+/, "rpm"],
  [/(?<=[/]webhooks[/]):\w+/, "webhook"],
  [/(?<=[/]uploads[/]):\w+/, "upload"],
  [/(?<=[/]schematics[/]):\w+/, "schematic"],
  [/(?<=[/]testdrives?[/]):\w+/, "testdrive"],
];

function filled(path: string): string {
  const withIds = parameters.reduce(
    (path, [parameter, name]) => path.replace(parameter, String(sample.ids[name])),
    unconstrained(path),
  );
  return withIds
    .replace("/accounts/:name", `/accounts/${sample.tux.username}`)
    .replace("/docs/:group", "/docs/appliances")
    .replace("/:run", "/1")
    .replace(":version", "0.0.1")
    .replace(":picture", "logo")
    .replace(/:image_type\b/, "oem")
    .replace(/:format\b/, "spdx")
    .replace(/:name\b/, "default")
    .replace("/*", "/nothing.js")
    .replace(/:\w+(\{[^}]*\})?/g, "1");
}

const ask = (method: string, path: string) => {
  const { tux, ids } = sample;
  const query = `appliance_id=${ids["appliance"]}&base_system=tiny-1.0&q=hello&to=${ids["otherBuild"]}&build_id=${ids["build"]}&path=/etc/hostname&latest&package=hello`;
  const authorization = path.startsWith("/admin/")
    ? `Bearer ${env.ADMIN_SECRET}`
    : `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  return visit(`${path}?${query}`, { method, headers: { authorization } });
};

describe("HEAD", () => {
  it.each([...byFolder])("has the headers of GET, for every path below %s", async (_, paths) => {
    for (const path of paths) {
      const get = await ask("GET", filled(path));
      const head = await ask("HEAD", filled(path));

      expect([head.status, get.ok], path).toEqual([get.status, !isRefused(path)]);
      expect(head.headers.get("content-type"), path).toBe(get.headers.get("content-type"));
      expect(head.headers.get("content-length"), path).toBe(String((await get.arrayBuffer()).byteLength));
      expect((await head.arrayBuffer()).byteLength, path).toBe(0);
    }
  });

  it("sends no length for an endless stream, and opens none", async () => {
    const head = await ask("HEAD", "/api/v2/user/events");

    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect([head.headers.get("content-length"), (await head.arrayBuffer()).byteLength]).toEqual([null, 0]);
  });

  it("covers paths of the API, of the pages and of files", () => {
    expect(paths).toEqual(
      expect.arrayContaining(["/api/v1/user/builds", "/api/v2/user/appliances/:appliance_id", "/"]),
    );
    expect(paths.length).toBeGreaterThan(40);
  });
});
