import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { applyFile, planFile, seenFor } from "../../cli/src/appliance-file/apply.ts";
import { exportAppliance } from "../../cli/src/appliance-file/export.ts";
import type { Definition } from "../../cli/src/appliance-file/write.ts";
import { openClient } from "../../cli/src/client/client.ts";
import { addTwins, fileOf, newKeys, readBack } from "../support/appliance-files.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { done, fill, json, refused, send, shownBy } from "../support/definitions.ts";
import { createAppliance } from "../support/factories.ts";
import { rpmOf } from "../support/packages.ts";
import { generatedDefinitions } from "../support/generated-definitions.ts";
import * as fc from "../support/properties.ts";

/* The command line's work with a file and the service, without its terminal. */

let tux: Client;
let applianceId: number;
let path: string;
let keys: Definition["gpg_keys"];

const clientOf = ({ username, apiKey }: Client) =>
  openClient({ url: "https://kiln.test", account: username, secret: apiKey });

/** An account that can use the two mirrors. */
async function newcomer(): Promise<Client> {
  const who = await signedIn();
  await addTwins(who.accountId);
  return who;
}

beforeAll(async () => {
  keys = await newKeys();
});
beforeEach(async () => {
  vi.stubGlobal("fetch", visit);
  tux = await newcomer();
  applianceId = await createAppliance(tux);
  path = `/appliances/${applianceId}/definition`;
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it("applies an export to an empty account, whose export has the same bytes, and then nothing would change", async () => {
  const { repositories: own } = await shownBy(tux, path);
  const repositories = [
    ...(own as Definition["repositories"]),
    { name: "Twins", url: "http://mirror.example.org/twins/two" },
  ];
  const samples = fc
    .sample(generatedDefinitions({ repositories, keys }), 20)
    .map((one) => fileOf(one.definition, one.contents));
  for (const written of samples) {
    const client = clientOf(await newcomer());
    const file = readBack(written);
    const { id } = await applyFile(client, file, await seenFor(client, file));
    expect(await exportAppliance(client, id, "one.files")).toEqual(written);
    const plan = await planFile(client, file, await seenFor(client, file));
    expect(plan.changes).toEqual([]);
  }
});

const empty = { contents: new Map<string, Uint8Array>(), at: String };

describe("two that apply at the same time", () => {
  it("get one appliance changed, and the other one told", async () => {
    const client = clientOf(tux);
    const { definition } = await client.call("getDefinition", { appliance_id: applianceId });
    const seen = await seenFor(client, { ...empty, definition });

    const both = await Promise.allSettled(
      ["One", "Two"].map((name) => applyFile(client, { ...empty, definition: { name } }, seen)),
    );

    const refusals = both.flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
    expect(refusals.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Something else has changed (One|Two) in the meantime\.$/),
    ]);
    const won = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.name] : []));
    expect([(await shownBy(tux, path))["name"]]).toEqual(won);
  });

  it("get one new appliance", async () => {
    const client = clientOf(tux);
    const file = { ...empty, definition: { name: "Only", base_system: "tiny-1.0" } };
    const both = await Promise.allSettled([applyFile(client, file, undefined), applyFile(client, file, undefined)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const { appliances } = await client.call("listAppliances", {});
    expect(appliances.filter(({ name }) => name === "Only")).toHaveLength(1);
  });
});

describe("PUT …/definition", () => {
  it("is done once with If-Match and an Idempotency-Key", async () => {
    const seen = (await tux.get(path, { headers: json })).headers.get("etag") ?? "";
    const headers = { "if-match": seen, "idempotency-key": crypto.randomUUID() };
    const first = await done(await send(tux, `PUT ${path}`, { name: "Once" }, headers));

    const second = await send(tux, `PUT ${path}`, { name: "Once" }, headers);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await done(second)).toEqual(first);
    const other = { ...headers, "idempotency-key": crypto.randomUUID() };
    expect(await refused(await send(tux, `PUT ${path}`, { name: "Once" }, other))).toMatch(/^412/);
  });

  it("leaves the old state behind if it breaks in the middle", async () => {
    await fill(tux, applianceId);
    const before = await shownBy(tux, path);
    await env.DB.exec("CREATE TRIGGER breaks BEFORE INSERT ON gpg_keys BEGIN SELECT RAISE(ABORT, 'broken'); END");
    const quiet = vi.spyOn(console, "error").mockReturnValue();
    const answer = await send(tux, `PUT ${path}`, { name: "Half", packages: [], files: [], gpg_keys: keys });
    quiet.mockRestore();
    await env.DB.exec("DROP TRIGGER breaks");

    expect(answer.status).toBe(500);
    expect(await shownBy(tux, path)).toEqual(before);
    expect((await done(await send(tux, `PUT ${path}`, { gpg_keys: keys })))["gpg_keys"]).toEqual(keys);
  });

  it("makes empty what another appliance has empty", async () => {
    const empty = await shownBy(tux, path);
    const otherId = await createAppliance(tux);
    await fill(tux, otherId);
    const { id: _id, ...other } = await done(await send(tux, `PUT /appliances/${otherId}/definition`, empty));
    expect({ id: applianceId, ...other }).toEqual(empty);
  });
});

describe("a pin to a repository", () => {
  const twins = [1, 2].map((nth) => ({
    name: "Twins",
    url: `http://mirror.example.org/twins/${nth === 1 ? "one" : "two"}`,
  }));

  it("is the url, where two have the same name", async () => {
    const packages = [{ name: "hello", repository: "http://mirror.example.org/twins/two" }];
    const shown = await done(await send(tux, `PUT ${path}`, { repositories: twins, packages }));
    expect(shown["packages"]).toEqual(packages);

    const alone = await done(await send(tux, `PUT ${path}`, { repositories: twins.slice(1), packages }));
    expect(alone["packages"]).toEqual([{ name: "hello", repository: "Twins" }]);
  });

  it("is refused, if two have that name", async () => {
    const packages = [{ name: "hello", repository: "Twins" }];
    expect(await refused(await send(tux, `PUT ${path}`, { repositories: twins, packages }))).toMatch(
      /hello is pinned to the repository Twins, and the appliance has several of that name: give the url of one\.$/,
    );
    expect(await refused(await send(tux, `PUT ${path}`, { repositories: [{ name: "Twins" }] }))).toMatch(
      /^400 invalid_repository_id There are several repositories called Twins: give the url of one\.$/,
    );
  });
});

it("names the own packages of each account in the same way", async () => {
  const all = [];
  for (const who of [tux, await newcomer()]) {
    const client = clientOf(who);
    const body = new File([rpmOf("own-note")], "own-note-1.0-1.noarch.rpm");
    const { rpm } = await client.call("uploadRpm", { base_system: "tiny-1.0", body });
    expect(rpm).toMatchObject({ filename: "own-note-1.0-1.noarch.rpm", base_system: "tiny-1.0" });
    const id = await createAppliance(who);
    await client.call("addUserRepository", { appliance_id: id });
    const packages = [{ name: "own-note", repository: "uploads" }];
    const shown = await done(await send(who, `PUT /appliances/${id}/definition`, { packages }));
    expect(shown["packages"]).toEqual(packages);
    all.push(shown.repositories);
    await client.call("deleteRpm", { rpm_id: rpm.id });
    expect(await client.call("listRpms", { base_system: "tiny-1.0" })).toMatchObject({ rpms: [] });
  }
  expect(all[1]).toEqual(all[0]);
  expect(all[0]).toContainEqual({ uploads: true });
});

it("is planned without its contents", async () => {
  const files = [{ path: "/etc/x", size: 5, sha256: "a".repeat(64) }];
  const answer = await send(tux, `POST ${path}/plan`, { files });
  expect(await answer.json()).toMatchObject({ plan: { changes: [{ name: "files", item: "/etc/x" }] } });
  expect(await refused(await send(tux, `PUT ${path}`, { files }))).toMatch(/the service does not have this content/);
});
