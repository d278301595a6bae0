import { beforeAll, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createBuild, startBuild } from "../support/factories.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { fileStoreOf } from "../support/file-store.ts";
import { configure, publish } from "../support/gallery.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";

const shadow = "root:$6$salt$hash:19000:0:99999:7:::\n";
const key = "-----BEGIN OPENSSH PRIVATE KEY-----\n";

const files = {
  "/etc/shadow": shadow,
  "/etc/shadow-": "root:!:19000::::::\n",
  "/etc/gshadow": "",
  "/etc/passwd": "root:x:0:0::/root:/bin/sh\n",
  "/etc/machine-id": "",
  "/etc/ssh/ssh_host_rsa_key": key,
  "/etc/ssh/ssh_host_rsa_key.pub": "ssh-rsa AAAA\n",
  "/etc/ssl/private/server.key": "a key\n",
  "/etc/ssl/private/public": { link: "/srv/public" },
  "/etc/secrets": { link: "ssl/private" },
  "/etc/ways": { link: "people" },
  "/etc/people": { link: "../etc/./shadow" },
  "/root/.ssh/id_rsa": "my key\n",
  // A hard link and a copy: the store has each content once.
  "/srv/hard-link": shadow,
  "/srv/public": "for all\n",
  "/srv/empty": "",
  "/opt": { link: "etc" },
} as const;

/** Paths and links to files that only the owner reads, with what is there. */
const secrets: [string, string][] = [
  ["/etc/shadow", shadow],
  ["etc/shadow", shadow],
  ["//etc//shadow", shadow],
  ["/etc/../etc/shadow", shadow],
  ["/./etc/./shadow/", shadow],
  ["/../../etc/shadow", shadow],
  ["/opt/shadow", shadow],
  ["/etc/people", shadow],
  ["/etc/ways", shadow],
  ["/srv/hard-link", shadow],
  ["/etc/shadow-", files["/etc/shadow-"]],
  ["/etc/gshadow", ""],
  ["/etc/ssh/ssh_host_rsa_key", key],
  ["/etc/ssl/private/server.key", "a key\n"],
  ["/etc/secrets/server.key", "a key\n"],
  ["/etc/ssl/private/public", "for all\n"],
  ["/root/.ssh/id_rsa", "my key\n"],
];

let tux: Client;
let rhea: Client;
let place: { applianceId: number; buildId: number };
let agent: Awaited<ReturnType<typeof createBuild>>["agent"];
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
  ({ agent, ...place } = await createBuild(tux, undefined, { store: fileStoreOf(files) }));
  await tux.post(`/appliances/${place.applianceId}/sharing/${rhea.username}`);
});

const fileAt = (client: Client, path: string) =>
  client.get(`/appliances/${place.applianceId}/image_files?build_id=${place.buildId}&path=${encodeURIComponent(path)}`);
const textOf = async (answer: Response) => new TextDecoder().decode(await answer.bytes());

describe("GET image_files of a secret", () => {
  it.each(secrets)("shows %s to the owner", async (path, content) => {
    expect(await textOf(await fileAt(tux, path))).toBe(content);
  });

  it.each(secrets)("refuses %s to a reader", async (path) => {
    for (const client of [rhea, rhea.on("v1")]) {
      expect(await expectError(await fileAt(client, path), 403, "access_denied")).toContain("Only the owner");
    }
  });

  it("shows it to a token of the owner, and not to one of a reader", async () => {
    const [own, other] = [await tokenOf(tux), await tokenOf(rhea)];
    expect((await fileAt(own.client, "/etc/shadow")).status).toBe(200);
    await expectError(await fileAt(other.client, "/etc/shadow"), 403, "access_denied");
  });

  it("refuses it whether it exists or not", async () => {
    await expectError(await fileAt(rhea, "/home/tux/.ssh/id_ed25519"), 403, "access_denied");
    await expectError(await fileAt(tux, "/home/tux/.ssh/id_ed25519"), 400, "invalid_path");
  });

  it.each(["/etc/passwd", "/etc/machine-id", "/etc/ssh/ssh_host_rsa_key.pub", "/srv/public", "/srv/empty"])(
    "shows %s, which is none, to a reader",
    async (path) => {
      expect((await fileAt(rhea, path)).status).toBe(200);
    },
  );
});

describe("what a reader learns of secrets otherwise", () => {
  it("is that they differ between builds, without checksums", async () => {
    const version = "0.0.2";
    await configure(tux, place.applianceId, "<network><type>dhcp</type><hostname>desk</hostname></network>");
    const later = await startBuild(tux, place.applianceId, { version });
    const store = fileStoreOf({ ...files, "/etc/shadow": "root:$6$other:::::::\n", "/etc/passwd": "other" });
    await agent.buildsSuccessfully(later, bytesOf("another image"), { store });
    const eve = await signedIn();
    await publish(tux, place.applianceId, "0.0.1");
    await publish(tux, place.applianceId, version);

    const pathOf = `/builds/${place.buildId}/difference?to=${later}&path=/etc`;
    for (const [client, sees] of [
      [tux, true],
      [rhea, false],
      [eve, false],
    ] as const) {
      const { difference } = await readXml(await client.get(pathOf));
      const [passwd, changed] = difference.files.file;
      expect([passwd.path, changed.path, changed.change]).toEqual(["/etc/passwd", "/etc/shadow", "changed"]);
      expect([passwd.from, passwd.to].map((file) => "sha256" in file)).toEqual([true, true]);
      expect([changed.from, changed.to].map((file) => "sha256" in file)).toEqual([sees, sees]);
    }
  });

  it("is nothing from the manifest", async () => {
    const path = `/appliances/${place.applianceId}/software/manifest/oem?version=0.0.1`;
    const [own, read] = await Promise.all([tux.get(path), rhea.get(path)].map(async (answer) => (await answer).text()));

    expect(own).toMatch(/ password="\$6\$[^"]+"/);
    expect(read).toContain(' password=""');
    expect(read).not.toContain("$6$");
  });
});
