import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { changeConfiguration, shownConfiguration } from "#domain/configuration/of-appliance";
import type { Appliance } from "#storage/appliances";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import {
  db,
  documentOf,
  fullDocument,
  putIfMatch,
  putPortion,
  readConfiguration,
  rowOf,
} from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError } from "../support/xml.ts";

const tux = await signedIn();
const geeko = await signedIn();
const stored = async (id: number) => (await rowOf(id)).configuration;

const selecting = (name: string) => `<software><pattern>base</pattern><package>${name}</package></software>`;

describe("access to a configuration", () => {
  it("includes a template's passwords", async () => {
    await loadTemplates();
    expect((await readConfiguration(tux, 1)).users.user.password).toBe("linux");
  });

  it("has no other method", async () => {
    await expectError(await tux.delete("/appliances/1/configuration"), 400, "wrong_http_method");
  });
});

describe("passwords", () => {
  it("are encrypted in the database, each differently, also for templates", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    const { users, databases } = await stored(id);
    const encrypted = [...users, ...databases.flatMap((database) => database.users)].map(({ password }) => password);
    const [template] = (await stored(1)).users;

    expect(encrypted).toHaveLength(3);
    for (const password of [...encrypted, template?.password]) expect(password).toMatch(/^sealed:[A-Za-z0-9+/=]{38,}$/);
    expect(new Set(encrypted).size).toBe(3);
  });

  it("are hidden from another account that may read the appliance", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    const { configuration } = await shownConfiguration(env, geeko.accountId, await rowOf(id));

    expect(configuration.users.map(({ password }) => password)).toEqual(["", ""]);
    expect(configuration.databases[0]?.users[0]?.password).toBe("");
  });

  it("are copied when the owner clones", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    const clone = await createAppliance(tux, { clone_from: id });

    expect(await documentOf(tux, clone)).toContain("<password> keep the spaces </password>");
    expect(await documentOf(tux, clone)).toContain("<password>sealed:&lt;not&gt;</password>");
  });
});

describe("ETag of a configuration", () => {
  it("changes exactly with the document, and differs for JSON", async () => {
    const id = await createAppliance(tux);
    const etagNow = async (headers = {}) =>
      (await tux.get(`/appliances/${id}/configuration`, { headers })).headers.get("etag");

    const first = await etagNow();
    const same = await etagNow();
    const json = await etagNow({ accept: "application/json" });
    const put = await putPortion(tux, id, "<tags><tag>new</tag></tags>");

    expect(first).toMatch(/^"[\w-]+"$/);
    expect(same).toBe(first);
    expect(json).not.toBe(first);
    expect(put.headers.get("etag")).not.toBe(first);
    expect(await etagNow()).toBe(put.headers.get("etag"));
  });

  it("lets a client skip a document that it has", async () => {
    const id = await createAppliance(tux);
    const etag = (await tux.get(`/appliances/${id}/configuration`)).headers.get("etag") ?? "";
    const ask = (tags: string) => tux.get(`/appliances/${id}/configuration`, { headers: { "if-none-match": tags } });

    const [unchanged, weak, changed] = [await ask(`"other", ${etag}`), await ask(`W/${etag}`), await ask('"other"')];

    expect([unchanged.status, await unchanged.text(), unchanged.headers.get("etag")]).toEqual([304, "", etag]);
    expect([weak.status, changed.status]).toEqual([304, 200]);
  });

  it("protects a change with If-Match", async () => {
    const id = await createAppliance(tux);
    const path = `/appliances/${id}/configuration`;
    const etag = (await tux.get(path)).headers.get("etag") ?? "";
    const json = (await tux.get(path, { headers: { accept: "application/json" } })).headers.get("etag") ?? "";
    const change = (tags: string, name: string) =>
      putIfMatch(tux, path, { body: `<configuration><name>${name}</name></configuration>`, tags });

    await expectError(await change(`W/${etag}`, "Weak"), 412, "unknown_error");
    expect((await change(json, "By JSON")).status).toBe(200);
    const message = await expectError(await change(etag, "Too late"), 412, "unknown_error");
    expect((await change("*", "Any")).status).toBe(200);

    expect(message).toMatch(/changed since/);
    expect((await rowOf(id)).name).toBe("Any");
  });

  it("accepts one of several changes of the same selection", async () => {
    const id = await createAppliance(tux);
    const path = `/appliances/${id}/software`;
    const tags = (await tux.get(path)).headers.get("etag") ?? "";
    const names = ["hello", "bash", "bigfile", "webdemo"];

    const answers = await Promise.all(names.map((name) => putIfMatch(tux, path, { body: selecting(name), tags })));

    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412]);
    const packages = [...(await (await tux.get(path)).text()).matchAll(/<package>(.*)<\/package>/g)];
    expect(packages.map(([, name]) => name)).toEqual([names[winner]]);
  });

  it("protects the software selection in the same way", async () => {
    const id = await createAppliance(tux);
    const path = `/appliances/${id}/software`;
    const etag = (await tux.get(path)).headers.get("etag") ?? "";
    const change = (name: string) =>
      putIfMatch(tux, path, {
        body: selecting(name),
        tags: etag,
      });

    const first = await change("hello");
    await expectError(await change("bash"), 412, "unknown_error");

    const now = await tux.get(path);
    expect(first.headers.get("etag")).toBe(now.headers.get("etag"));
    expect(await now.text()).toContain("<package>hello</package>");
    expect((await tux.get(path, { headers: { "if-none-match": first.headers.get("etag") ?? "" } })).status).toBe(304);
  });
});

describe("one of several simultaneous changes", () => {
  it("succeeds, and undoes no other", async () => {
    const id = await createAppliance(tux);
    const portions = [
      "<name>Racing</name>",
      "<tags><tag>race</tag></tags>",
      "<settings><memory_size>777</memory_size></settings>",
      "<website>https://race.example.org</website>",
    ];

    const answers = await Promise.all(portions.map((portion) => putPortion(tux, id, portion)));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await readConfiguration(tux, id)).toMatchObject({
      name: "Racing",
      tags: { tag: "race" },
      settings: { memory_size: "777" },
      website: "https://race.example.org",
    });
  });

  it("is checked again after another change", async () => {
    const id = await createAppliance(tux);
    const read = await rowOf(id);
    await putPortion(tux, id, "<name>Faster</name>");
    const seen: string[] = [];

    const changing = changeConfiguration(
      { env, db },
      { accountId: tux.accountId, appliance: read },
      {
        change: { name: "Slower" },
        precondition: ({ name }) => {
          seen.push(name);
          if (name !== "Kiosk") throw new Error("changed");
        },
      },
    );

    await expect(changing).rejects.toThrow("changed");
    expect(seen).toEqual(["Kiosk", "Faster"]);
    expect((await rowOf(id)).name).toBe("Faster");
  });

  it("fails if others always come first, or the appliance is gone", async () => {
    const [busy, gone] = [await createAppliance(tux), await createAppliance(tux)];
    const [readBusy, readGone] = [await rowOf(busy), await rowOf(gone)];
    let others = 0;
    const outrun = async () => void (await putPortion(tux, busy, `<name>Other ${++others}</name>`));
    const change = (appliance: Appliance, precondition: () => Promise<void> | void) =>
      changeConfiguration(
        { env, db },
        { accountId: tux.accountId, appliance },
        { change: { website: "https://late.example.org" }, precondition },
      );
    await tux.delete(`/appliances/${gone}`);

    await expect(change(readBusy, outrun)).rejects.toMatchObject({ code: "unknown_error" });
    await expect(change(readGone, () => {})).rejects.toMatchObject({ code: "invalid_appliance_id" });

    expect((await rowOf(busy)).name).toBe(`Other ${others}`);
    expect((await stored(busy)).website).toBe("");
  });
});
