import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addAccount } from "./support/admin.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, relayWire } from "./support/rfb.ts";
import { startService, until, type Ready, type Service } from "./support/service.ts";

/** Two people and one gallery: built, published, found, rated, tried, cloned, compared and taken back. */

interface Person {
  rest: RestClient;
  /** A call whose body is plain text under a form's content type, as old clients send it. */
  say: (method: string, path: string, text: string) => Promise<string>;
  /** A GET of what there is as plain text too. */
  read: (path: string) => Promise<string>;
}

let service: Service;
let tux: Person;
let ada: Person;

beforeAll(async () => {
  service = await startService();
  tux = person(service.ready());
  ada = person({ ...service.ready(), username: "ada", api_key: addAccount("ada", service.stateDir) });
});

afterAll(() => service.stop());

function person(who: Ready): Person {
  const authorization = `Basic ${Buffer.from(`${who.username}:${who.api_key}`).toString("base64")}`;
  const send = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${who.url}/api/v2/user${path}`, init);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return text;
  };
  const type = "application/x-www-form-urlencoded";
  return {
    rest: restClient(who),
    say: (method, path, body) => send(path, { method, body, headers: { authorization, "content-type": type } }),
    read: (path) => send(path, { headers: { authorization, accept: "text/plain" } }),
  };
}

async function build(applianceId: string): Promise<string> {
  const { build: started } = await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId });
  const seen = await tux.rest.watchBuild(started.id, 300);
  expect(seen.at(-1)).toMatchObject({ state: "finished" });
  return started.id;
}

async function cloned({ rest }: Person, from: string, name: string): Promise<string> {
  const params = { clone_from: from, name, arch: "x86_64" };
  return (await rest.call("POST", "/appliances", params)).appliance.id;
}

const jeos = async () => {
  const { template_sets: sets } = await tux.rest.call("GET", "/template_sets");
  return sets.template_set[0].template.find(({ name }: { name: string }) => name.includes("JeOS")).appliance_id;
};

/** All that a stranger sees of the published version. */
const seenBy = async ({ rest }: Person, applianceId: string) =>
  JSON.stringify([
    await rest.call("GET", `/gallery/appliances/${applianceId}`),
    await rest.call("GET", `/gallery/appliances/${applianceId}/software`, { version: "0.0.1" }),
  ]);

/** Boots what is published until it asks for a login, with a picture through the relay. */
async function tried(applianceId: string): Promise<void> {
  const { gallery } = await ada.rest.call("POST", `/gallery/appliances/${applianceId}/testdrive`);
  const url: string = gallery.testdrive.url;
  const viewer = await until("the relay is open", 60, () =>
    relayWire(`${url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const { testdrives } = await ada.rest.call("GET", "/testdrives");
  const serial = join(service.stateDir, "agent", "testdrives", testdrives.testdrive.id, "serial.log");
  await until("the serial console asks for a login", 300, () =>
    existsSync(serial) ? /login: ?$/m.test(readFileSync(serial, "utf8")) : false,
  );
  expect((await viewer.frame()).colours).toBeGreaterThan(1);
  viewer.close();
}

it("goes from one person's build to another person's clone, and back out of the gallery", async () => {
  const applianceId = await cloned(tux, await jeos(), "Zebra crossing");
  await tux.rest.call("POST", `/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
  const first = await build(applianceId);
  const versions = `/gallery/appliances/${applianceId}/version`;
  expect(await tux.say("POST", `${versions}/0.0.1`, "First *public* release & more=yes")).toContain(
    "<release_notes>First *public* release &amp; more=yes</release_notes>",
  );

  const { gallery: found } = await ada.rest.call("GET", "/gallery/appliances", { search: "zebra hello" });
  expect(found.appliances.appliance).toMatchObject({ id: applianceId, name: "Zebra crossing" });
  const { gallery: rated } = await ada.rest.call("POST", `/gallery/appliances/${applianceId}/rating`, { rating: 5 });
  expect(rated.appliance).toEqual({ ratings: "1", average_rating: "5.0" });
  await ada.say("POST", `/gallery/appliances/${applianceId}/comments`, "Works at our desk & gate");
  await tried(applianceId);
  const copy = await cloned(ada, applianceId, "Ada's crossing");
  const { software } = await ada.rest.call("GET", `/appliances/${copy}/software`);
  expect(JSON.stringify(software.package)).toContain("hello");

  const published = await seenBy(ada, applianceId);
  await tux.rest.call("POST", `/appliances/${applianceId}/cmd/remove_package`, { name: "hello" });
  const second = await build(applianceId);
  expect(await seenBy(ada, applianceId)).toBe(published);

  const difference = `/builds/${first}/difference`;
  const { difference: told } = await tux.rest.call("GET", difference, { to: second, path: "/usr/share/hello" });
  const removed = [told.packages.package].flat().find(({ name }: { name: string }) => name === "hello");
  expect(removed).toMatchObject({
    change: "removed",
    from: { version: "1.1-1", license: expect.stringMatching(/\S/) },
  });
  const files = [told.files.file].flat() as { change: string; path: string; from: object }[];
  expect(files.every(({ change }) => change === "removed")).toBe(true);
  expect(files.find(({ path }) => path === "/usr/share/hello/version")?.from).toMatchObject({
    type: "file",
    owner: "root",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const whole = await tux.rest.call("GET", difference, { to: second, limit: 1000 });
  const changed = [whole["difference"].files.file].flat().map(({ path }: { path: string }) => path);
  expect(changed).toContain("/usr/share/hello/version");
  expect(changed).not.toContain("/etc/passwd");
  await expect(ada.rest.call("GET", difference, { to: second })).rejects.toThrow("invalid_build_id");
  const draft = await tux.read(`${versions}/0.0.2/release_notes_draft`);
  expect(draft).toMatch(/^Changes since version 0\.0\.1\n/);
  expect(draft).toMatch(/^ {2}- hello 1\.1-1/m);

  await tux.say("POST", `${versions}/0.0.2`, draft);
  expect((await ada.rest.call("GET", difference, { to: second }))["difference"].from.build_id).toBe(first);
  for (const version of ["0.0.1", "0.0.2"]) await tux.rest.call("DELETE", `${versions}/${version}`);
  await expect(ada.rest.call("GET", `/gallery/appliances/${applianceId}`)).rejects.toThrow("access_denied");
  expect((await ada.rest.call("GET", `/appliances/${copy}`)).appliance.name).toBe("Ada's crossing");
});
