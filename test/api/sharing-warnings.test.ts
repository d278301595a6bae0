import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expireOldImages } from "#domain/builds/retention";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";
import { configure, publish } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let id: number;
beforeEach(async () => {
  tux = await signedIn();
  id = await createAppliance(tux);
});

interface Warning {
  kind: string;
  name: string;
  current: boolean;
  versions: string[];
  text: string;
}

async function warningsOf(applianceId = id, query = ""): Promise<{ complete: boolean; warnings: Warning[] }> {
  const path = `/appliances/${applianceId}/sharing_warnings${query}`;
  const answer = await tux.get(path, { headers: { accept: "application/json" } });
  const { sharing_warnings: shown } = (await answer.json()) as {
    sharing_warnings: { complete: boolean; warnings: Warning[] };
  };
  return shown;
}
const shortOf = async (applianceId = id, query = "") =>
  (await warningsOf(applianceId, query)).warnings.map(
    ({ kind, name, current, versions }) => `${kind} ${name}: ${[...(current ? ["now"] : []), ...versions].join(", ")}`,
  );

const userXml = (name: string, password: string, uid = 0) =>
  `<user><uid>${uid}</uid><name>${name}</name><password>${password}</password></user>`;
const setUsers = (...users: string[]) => configure(tux, id, `<users>${users.join("")}</users>`);

const databaseXml = (type: string, user: string) =>
  `<database><type>${type}</type><users><user><username>${user}</username><password>open sesame</password>
    <database_list>shop</database_list></user></users></database>`;
const scriptXml = (text: string) => `<enabled>true</enabled><script>${text}</script>`;

async function build(version: string): Promise<void> {
  const buildId = await startBuild(tux, id, { version });
  const agent = await fakeAgent();
  await agent.buildsSuccessfully(buildId, bytesOf(`image ${version}`));
}

describe("what sharing an appliance reveals", () => {
  it("is nothing for a clone with the template's passwords, and its images", async () => {
    const { applianceId } = await createBuild(tux);
    expect(await warningsOf(applianceId)).toEqual({ appliance_id: applianceId, complete: true, warnings: [] });
  });

  it("is the passwords of its users, by version", async () => {
    await build("0.0.1");
    await setUsers(userXml("root", "own secret"));
    await build("0.0.2");
    await setUsers(userXml("root", "own secret"), userXml("clerk", "counter", 1234));
    expect(await shortOf()).toEqual(["user_password root: now, 0.0.2", "user_password clerk: now"]);

    await setUsers(userXml("root", "linux"));
    expect(await shortOf()).toEqual(["user_password root: 0.0.2"]);
    expect(await shortOf(id, "?version=0.0.1")).toEqual([]);
    expect(await shortOf(id, "?version=0.0.2")).toEqual(["user_password root: 0.0.2"]);
  });

  it("does not show a password or a hash", async () => {
    await setUsers(userXml("root", "own secret"));
    await build("0.0.1");
    const text = await (await tux.get(`/appliances/${id}/sharing_warnings`)).text();
    expect(text).toContain("the password that you gave root");
    expect(text).not.toMatch(/own secret|\$6\$/);
  });

  it("is the passwords of databases", async () => {
    await configure(tux, id, `<databases>${databaseXml("pgsql", "clerk")}${databaseXml("mysql", "till")}</databases>`);
    await build("0.0.1");
    expect(await shortOf()).toEqual([
      "database_password pgsql clerk: now, 0.0.1",
      "database_password mysql till: now, 0.0.1",
    ]);
  });

  it("is overlay files that look like secrets", async () => {
    for (const [path, filename] of [
      ["/etc/ssl/private", "web.pem"],
      ["/root/.ssh", "id_rsa"],
      ["/srv", "api-token"],
      ["/srv", "motd"],
    ] as const) {
      await uploadFile(tux, id, "content", { query: { path, filename } });
    }
    await uploadFile(tux, id, "content", { query: { path: "/etc", filename: "shadow", enabled: "false" } });
    expect(await shortOf()).toEqual(
      ["/etc/ssl/private/web.pem", "/root/.ssh/id_rsa", "/srv/api-token"].map((path) => `overlay_file ${path}: now`),
    );
    await build("0.0.1");
    expect(await shortOf(id, "?version=0.0.1")).toContain("overlay_file /root/.ssh/id_rsa: now, 0.0.1");
  });

  it("is scripts that mention a secret", async () => {
    await configure(
      tux,
      id,
      `<scripts><build>${scriptXml("echo hello")}</build><boot>${scriptXml("export API_KEY=123")}</boot></scripts>`,
    );
    await build("0.0.1");
    expect(await shortOf()).toEqual(["script boot: now, 0.0.1"]);
  });

  it("is the uploads that machines read, but not to those who clone it", async () => {
    await build("0.0.1");
    await configure(tux, id, "<settings><update_uploads>true</update_uploads></settings>");
    expect(await shortOf()).toEqual(["user_repository uploads: now"]);
    expect(await shortOf(id, "?version=0.0.1")).toEqual([]);
  });

  it("is not what was in images that no one can download any more", async () => {
    await setUsers(userXml("root", "own secret"));
    await build("0.0.1");
    await setUsers(userXml("root", "linux"));
    await expireOldImages(
      { env: { ...env, KEEP_IMAGES_DAYS: "1" }, db: openDatabase(env) },
      Date.now() + 2 * 86_400_000,
    );
    expect(await shortOf()).toEqual([]);
    await expectError(await tux.get(`/appliances/${id}/sharing_warnings?version=0.0.1`), 400, "invalid_version");
  });

  it("reports if it did not look at all images", async () => {
    for (let nth = 1; nth <= 11; nth += 1) {
      await setUsers(userXml("root", `secret ${nth}`));
      await build(`0.0.${nth}`);
    }
    const { complete, warnings } = await warningsOf();
    expect(complete).toBe(false);
    expect(warnings[0]?.versions).toEqual(Array.from({ length: 10 }, (_, nth) => `0.0.${11 - nth}`));
  });
});

describe("sharing and publishing", () => {
  let rhea: Client;
  beforeAll(async () => {
    rhea = await signedIn();
  });

  it("point to the warnings in a header, and answer the same document as before", async () => {
    await build("0.0.1");
    const shared = await tux.post(`/appliances/${id}/sharing/${rhea.username}`);
    expect(shared.headers.get("link")).toBe(`</api/v2/user/appliances/${id}/sharing_warnings>; rel="related"`);
    expect((await readXml(shared)).appliance).toEqual({
      id: String(id),
      read_users: { "@count": "1", username: rhea.username },
    });
    const published = await publish(tux, id);
    expect([published.status, published.headers.get("link")]).toEqual([
      200,
      `</api/v2/user/appliances/${id}/sharing_warnings?version=0.0.1>; rel="related"`,
    ]);
  });

  it("have no such header if they are refused", async () => {
    const answer = await tux.post(`/appliances/${id}/sharing/nobody-at-all`);
    expect([answer.status, answer.headers.get("link")]).toEqual([400, null]);
  });
});
