/** Definitions that have a URL. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { json, refused, send, shownBy, stored } from "../support/definitions.ts";
import { createAppliance } from "../support/factories.ts";
import { posted } from "../support/schematics.ts";

let tux: Client;
beforeAll(async () => {
  await createAppliance(await signedIn()); // loads the templates
});
beforeEach(async () => {
  tux = await signedIn();
});

const appliancesOf = async (who: Client) =>
  (await (await who.get("/appliances", { headers: json })).json<{ appliances: unknown[] }>()).appliances.length;

describe("POST /schematics", () => {
  it("makes one appliance for one definition, however often it is sent", async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => posted(tux, { packages: [{ name: "hello" }] })));

    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(new Set(all.map(({ appliance_id }) => appliance_id)).size).toBe(1);
    expect(await appliancesOf(tux)).toBe(1);
    expect(all[0]?.url).toMatch(new RegExp(`/image/${all[0]?.id}/current/oem$`));
  });

  it("gives the same id to the same content, however it is written", async () => {
    const one = await posted(tux, { packages: [{ name: "hello" }, { name: "bash" }], configuration: { tags: [] } });
    const other = await posted(tux, { packages: [{ name: "bash" }, { name: "hello" }], version: "0.0.7" });
    const whole = await shownBy(tux, `/appliances/${one.appliance_id}/definition`);

    expect(other.id).toBe(one.id);
    expect((await posted(tux, whole)).id).toBe(one.id);
    expect((await posted(await signedIn(), whole)).id).toBe(one.id);
  });

  it("gives another id to other content", async () => {
    const { sha256, upload } = await stored(tux, "hello");
    const ids = [
      await posted(tux),
      await posted(tux, { name: "Desk" }),
      await posted(tux, { packages: [{ name: "hello" }] }),
      await posted(tux, { configuration: { settings: { memory_size: 1024 } } }),
      await posted(tux, { files: [{ path: "/etc/motd", sha256, upload }] }),
      await posted(tux, { configuration: { users: [{ name: "root", password: "one" }] } }),
      await posted(tux, { configuration: { users: [{ name: "root", password: "two" }] } }),
    ].map(({ id }) => id);

    expect(new Set(ids).size).toBe(ids.length);
  });

  it("makes another appliance if the first was changed or deleted", async () => {
    const first = await posted(tux);
    await tux.post(`/appliances/${first.appliance_id}/cmd/add_package`, { name: "hello" });
    expect((await tux.get(`/schematics/${first.id}`, { headers: json })).status).toBe(404);

    const second = await posted(tux);
    expect([second.id, second.appliance_id === first.appliance_id]).toEqual([first.id, false]);
    await tux.delete(`/appliances/${second.appliance_id}`);
    expect(await refused(await tux.get(`/schematics/${first.id}`, { headers: json }))).toMatch(
      /^404 unknown_error You have no schematic/,
    );
  });

  it("counts towards the account's appliances", async () => {
    const { MAX_APPLIANCES_PER_ACCOUNT: before } = env;
    env.MAX_APPLIANCES_PER_ACCOUNT = "1";
    try {
      await posted(tux);
      const answer = await send(tux, "POST /schematics", { base_system: "tiny-1.0", name: "Second" });
      expect(await refused(answer)).toMatch(/An account can have at most 1 appliances/);
      await posted(tux);
    } finally {
      env.MAX_APPLIANCES_PER_ACCOUNT = before;
    }
  });
});

describe("GET /schematics/ID", () => {
  it("shows the appliance that the account has made", async () => {
    const { id, appliance_id } = await posted(tux);
    const answer = await tux.get(`/schematics/${id}`, { headers: json });
    expect(await answer.json()).toMatchObject({ schematic: { id, appliance_id } });
  });
});
