import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { madeId } from "../api/every-call/sample.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { rpmOf } from "../support/packages.ts";
import { tinyRepository } from "../support/repositories.ts";
import { readXml } from "../support/xml.ts";
import { expectLike, fixture } from "./fixtures.ts";

const url = "http://mirror.example.org/perl";
const upload = { file: rpmOf("counter"), name: "counter-1.0-1.noarch.rpm" };

let tux: Client;
let id: number;

beforeAll(loadTemplates);
beforeEach(async () => {
  tux = await signedIn();
  id = await createAppliance(tux);
});
afterEach(() => void vi.restoreAllMocks());

it("matches the example of software", async () => {
  const pinned = { name: "hello", version: "1.0-1" };
  await expectLike("software_change", await tux.post(`/appliances/${id}/cmd/add_package`, pinned));
  await tux.post(`/appliances/${id}/cmd/add_package`, { name: "gcc-c++" });
  await tux.post(`/appliances/${id}/cmd/add_pattern`, { name: "web", version: "1.0-1" });

  await expectLike("software", await tux.get(`/appliances/${id}/software`));
});

it("matches the example of software_map", async () => {
  await tux.put(`/appliances/${id}/software`, "<software><package>hello</package><pattern>base</pattern></software>");

  await expectLike("software_map", await tux.get(`/appliances/${id}/software/installed`));
  await expectLike("software_map_empty", await tux.get(`/appliances/${id}/software/search?q=no-such-thing`));
});

it("accepts a software selection as its example sends it", async () => {
  expect((await tux.put(`/appliances/${id}/software`, fixture("software_put"))).status).toBe(200);

  const { software } = await readXml(await tux.get(`/appliances/${id}/software`));
  expect(software).toMatchObject({
    package: ["gcc-c++", { "@version": "1.0-1", "#text": "hello" }],
    pattern: "base",
  });
});

it("accepts a list of repositories as its example sends it", async () => {
  const [main, updates] = [await tinyRepository("main"), await tinyRepository("updates")];
  const list = fixture("repositories_put").replace("<id>12<", `<id>${updates}<`).replace("<id>13<", `<id>${main}<`);

  const { repositories } = await readXml(await tux.put(`/appliances/${id}/repositories`, list));

  expect(repositories.repository.map(({ id }: { id: string }) => Number(id)).toSorted()).toEqual(
    [main, updates].toSorted(),
  );
});

// Clients GET a document, change one value in it, and send it back.
it.each([
  ["software", "/software"],
  ["repositories", "/repositories"],
])("accepts its own answer of %s unchanged, without any effect", async (_name, path) => {
  await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello", version: "1.0-1" });
  const document = await (await tux.get(`/appliances/${id}${path}`)).text();

  const answer = await tux.put(`/appliances/${id}${path}`, document);

  expect([answer.status, await answer.text()]).toEqual([200, document]);
  expect(await (await tux.get(`/appliances/${id}${path}`)).text()).toBe(document);
});

it("matches the example of repository", async () => {
  const mirror = mirrorOf({ [url]: rpmMd(["perl-DBI-1.6", "perl-Moose-2.2"]) });
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => mirror.fetchOutside(String(to)));
  await expectLike("repository", await tux.post("/repositories", { url, name: "Perl modules" }));
  await expectLike("repositories_filtered", await tux.get("/repositories?filter=perl"));

  const { repositories } = await readXml(await tux.get("/repositories?filter=perl"));
  await expectLike("repository", await tux.get(`/repositories/${repositories.repository.id}`));
});

it("matches the examples of rpm and rpms", async () => {
  const id = await madeId(tux, "POST", "/rpms?base_system=tiny-1.0", upload);

  await expectLike("rpm", await tux.get(`/rpms/${id}`));
  await expectLike("rpms", await tux.get("/rpms?base_system=tiny-1.0"));
});

it("matches the example of repositories of an appliance", async () => {
  const id = await createAppliance(tux);
  await madeId(tux, "POST", "/rpms?base_system=tiny-1.0", upload);

  await expectLike("repositories", await tux.post(`/appliances/${id}/cmd/add_user_repository`));
  await expectLike("repositories", await tux.get(`/appliances/${id}/repositories`));
});
