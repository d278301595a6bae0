import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAccount } from "#domain/accounts/account";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { configure } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let rhea: Client;
let id: number;
beforeEach(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
  id = await createAppliance(tux);
});

const share = (username = rhea.username) => tux.post(`/appliances/${id}/sharing/${encodeURIComponent(username)}`);

const readersIn = async (answer: Response) => (await readXml(answer)).appliance.read_users;
const readers = async () => await readersIn(await tux.get(`/appliances/${id}/sharing`));

describe("the readers of an appliance", () => {
  it("are an empty list at first, in the long form", async () => {
    const answer = await tux.get(`/appliances/${id}/sharing`);

    expect(await answer.text()).toBe(
      `<appliance>\n  <id>${id}</id>\n  <read_users count="0">\n  </read_users>\n</appliance>\n`,
    );
  });

  it("are returned by all three calls, with their count", async () => {
    const odo = await signedIn();

    expect(await readersIn(await share())).toEqual({ "@count": "1", username: rhea.username });
    const both = { "@count": "2", username: [rhea.username, odo.username] };
    expect(await readersIn(await share(odo.username))).toEqual(both);
    expect(await readers()).toEqual(both);
    const left = await tux.delete(`/appliances/${id}/sharing/${rhea.username}`);
    expect(await readersIn(left)).toEqual({ "@count": "1", username: odo.username });
  });

  it("do not change when added twice or removed without being there", async () => {
    await Promise.all([share(), share(), share()]);
    expect(await readersIn(await share())).toEqual({ "@count": "1", username: rhea.username });

    const eve = await signedIn();
    const answer = await tux.delete(`/appliances/${id}/sharing/${eve.username}`);

    expect([answer.status, await readersIn(answer)]).toEqual([200, { "@count": "1", username: rhea.username }]);
  });

  it("never include the owner", async () => {
    expect(await readersIn(await share(tux.username))).toEqual({ "@count": "0" });
  });

  it.each([
    ["odo + %s", (name: string) => name.split(" ").map(encodeURIComponent).join("+")],
    ["quark %s/100%", encodeURIComponent],
  ])("can be named %s in any encoding", async (pattern, written) => {
    const username = pattern.replace("%s", crypto.randomUUID());
    await createAccount(openDatabase(env), env, { username, email: "odo@example.org", password: "correct horse" });

    expect(await readersIn(await tux.post(`/appliances/${id}/sharing/${written(username)}`))).toEqual({
      "@count": "1",
      username,
    });
  });

  it.each(["nobody-here", "%ff", "%25", "a%00b"])("cannot include %s, which is not an account", async (name) => {
    await expectError(await tux.post(`/appliances/${id}/sharing/${name}`), 400, "invalid_username");
    await expectError(await tux.delete(`/appliances/${id}/sharing/${name}`), 400, "invalid_username");
    expect(await readers()).toEqual({ "@count": "0" });
  });

  it("can be seen and changed only by the owner", async () => {
    await share();
    const path = `/appliances/${id}/sharing`;
    await expectError(await rhea.get(path), 403, "access_denied");
    await expectError(await rhea.post(`${path}/${rhea.username}`), 403, "access_denied");
    await expectError(await rhea.delete(`${path}/${rhea.username}`), 403, "access_denied");
    expect(await readers()).toEqual({ "@count": "1", username: rhea.username });
  });

  it("are always none for a template", async () => {
    expect(await readersIn(await rhea.get("/appliances/1/sharing"))).toEqual({ "@count": "0" });
    await expectError(await rhea.post(`/appliances/1/sharing/${tux.username}`), 403, "access_denied");
  });

  it("are deleted with the appliance", async () => {
    await share();
    await tux.delete(`/appliances/${id}`);

    await expectError(await rhea.get(`/appliances/${id}`), 404, "invalid_appliance_id");
  });
});

describe("a reader of a shared appliance", () => {
  let buildId: number;
  let running: number;
  beforeAll(async () => {
    tux = await signedIn();
  });
  beforeEach(async () => {
    ({ applianceId: id, buildId } = await createBuild(tux));
    await share();
    running = await startBuild(tux, id);
  });

  it("can GET all of it", async () => {
    const below = ["", "/status", "/configuration", "/configuration/logo", "/repositories", "/software"];
    const more = [
      "/software/installed",
      `/software/installed?build_id=${buildId}`,
      "/gpg_keys",
      "/software/search?q=hello",
    ];
    const others = [`/files?appliance_id=${id}`, `/builds?appliance_id=${id}`, `/builds/${buildId}`];
    const progress = [
      `/running_builds?appliance_id=${id}`,
      `/running_builds/${running}`,
      `/running_builds/${running}/log`,
    ];
    const paths = [...[...below, ...more].map((path) => `/appliances/${id}${path}`), ...others, ...progress];

    const answers = await Promise.all(paths.map(async (path) => [path, (await rhea.get(path)).status]));

    expect(answers).toEqual(paths.map((path) => [path, 200]));
    const { builds } = await readXml(await rhea.get(`/builds?appliance_id=${id}`));
    expect(builds.build.id).toBe(String(buildId));
  });

  it("does not see passwords, or the appliance in its own list", async () => {
    await configure(
      tux,
      id,
      "<users><user><uid>0</uid><name>root</name><password>s3cret-of-tux</password></user></users>",
    );

    const text = await (await rhea.get(`/appliances/${id}/configuration`)).text();

    expect(text).not.toContain("s3cret");
    expect((await readXml(await rhea.get("/appliances"))).appliances).toEqual({ "@type": "array" });
  });

  it("cannot change anything", async () => {
    const calls = [
      rhea.delete(`/appliances/${id}`),
      rhea.put(`/appliances/${id}/configuration`, "<configuration><name>Mine</name></configuration>"),
      rhea.put(`/appliances/${id}/software`, "<software/>"),
      rhea.post(`/appliances/${id}/cmd/add_package`, { name: "hello" }),
      rhea.post("/running_builds", { appliance_id: id }),
      rhea.delete(`/running_builds/${running}`),
      rhea.delete(`/builds/${buildId}`),
    ];

    for (const answer of await Promise.all(calls)) await expectError(answer, 403, "access_denied");
    expect((await readXml(await tux.get(`/running_builds/${running}`))).running_build.state).toBe("queued");
    expect((await tux.get(`/builds/${buildId}`)).status).toBe(200);
  });

  it("can clone it, without its owner's passwords", async () => {
    await configure(
      tux,
      id,
      "<users><user><uid>0</uid><name>root</name><password>s3cret-of-tux</password></user></users>",
    );

    const { appliance } = await readXml(await rhea.post("/appliances", { clone_from: id, arch: "x86_64" }));

    expect(appliance.parent.id).toBe(String(id));
    const { configuration } = await readXml(await rhea.get(`/appliances/${appliance.id}/configuration`));
    expect(configuration.users.user).toMatchObject({ name: "root", password: "linux" });
  });

  it("loses access when the owner removes it", async () => {
    await tux.delete(`/appliances/${id}/sharing/${rhea.username}`);

    await expectError(await rhea.get(`/appliances/${id}`), 404, "invalid_appliance_id");
    await expectError(await rhea.get(`/builds/${buildId}`), 404, "invalid_build_id");
    await expectError(await rhea.get(`/running_builds/${running}`), 404, "invalid_running_build_id");
    await expectError(await rhea.post("/appliances", { clone_from: id }), 400, "invalid_appliance_id");
  });
});
