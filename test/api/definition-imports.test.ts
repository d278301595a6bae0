import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FrozenInput } from "#lib/contract/index";
import { importXml, type Imported } from "#lib/kiwi/import/index";
import { findInput } from "#storage/build-blobs";
import { rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { fullDocument, putPortion } from "../support/configurations.ts";
import { done, json, send, shownBy, stored, type Shown } from "../support/definitions.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent, type FakeAgent } from "../support/fake-agent.ts";
import { uploadFile } from "../support/files.ts";

let tux: Client;
let agent: FakeAgent;

beforeAll(async () => {
  agent = await fakeAgent();
});
beforeEach(async () => {
  tux = await signedIn();
});

async function frozen(applianceId: number): Promise<FrozenInput> {
  const buildId = await startBuild(tux, applianceId);
  const input = await findInput(env.BLOBS, (await rowOfBuild(buildId)).inputSha256);
  if (!input) throw new Error("the build has no frozen input");
  await agent.buildsSuccessfully(buildId);
  return input;
}

const installed = ({ packages }: FrozenInput) =>
  packages.map(({ name, checksum }) => `${name} ${checksum.value}`).toSorted();

/**
 * Makes an appliance of an import in the same order as the command line: contents first. Passwords, and values that no
 * description contains, come from elsewhere.
 */
async function appliedBy({ definition, files }: Imported): Promise<Shown> {
  const { configuration } = definition;
  const sent = files.map(async ({ content, ...place }) => ({
    ...place,
    ...(await stored(tux, new TextDecoder().decode(content))),
  }));
  const { users = [], databases = [] } = configuration;
  const withPasswords = {
    ...configuration,
    users: users.map((user) => ({ ...user, password: "quiet please" })),
    databases: databases.map((one) => ({
      ...one,
      users: one.users.map((user) => ({ ...user, password: "quiet please" })),
    })),
  };
  const wanted = {
    base_system: "tiny-1.0",
    arch: "x86_64",
    ...definition,
    configuration: withPasswords,
    files: await Promise.all(sent),
  };
  return await done(await send(tux, "POST /definitions", wanted));
}

describe("an appliance of what the service has made", () => {
  it("is the same one when its KIWI description was imported", async () => {
    const applianceId = await createAppliance(tux);
    expect((await putPortion(tux, applianceId, portionOf(fullDocument(applianceId)))).status).toBe(200);
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    await uploadFile(tux, applianceId, "port = 7000\n", { name: "counter.conf", query: { path: "/etc" } });
    const input = await frozen(applianceId);
    // The agent puts the contents there.
    const [file] = input.files ?? [];
    const texts = { ...input.description, [`root/image/kiln/contents/${file?.blobId}`]: "port = 7000\n" };
    const files = Object.entries(texts).map(
      ([path, text]) => [path, { content: new TextEncoder().encode(text), mode: 0o644 }] as const,
    );
    const imported = importXml(input.description["config.xml"] ?? "", {
      nextTo: { files: new Map(files) },
      serviceUrl: "https://kiln.test",
    });

    const made = await appliedBy(imported);

    const before = await shownBy(tux, `/appliances/${applianceId}/definition`);
    expect(comparable(made)).toEqual(comparable(before));
    expect(installed(await frozen(made.id))).toEqual(installed(input));
  });

  it("installs the same packages when its manifest was imported", async () => {
    const applianceId = await createAppliance(tux);
    await tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    const input = await frozen(applianceId);
    const manifest = await (
      await tux.get(`/appliances/${applianceId}/software/manifest/oem`, { headers: json })
    ).text();

    const made = await appliedBy(
      importXml(manifest, { nextTo: { files: new Map() }, serviceUrl: "https://kiln.test" }),
    );

    expect(made).toMatchObject({ name: "Kiosk", base_system: "tiny-1.0", arch: "x86_64", type: "oem" });
    expect(made.repositories).toEqual((await shownBy(tux, `/appliances/${applianceId}/definition`)).repositories);
    expect(installed(await frozen(made.id))).toEqual(installed(input));
  });
});

/**
 * A configuration in the forms that a description uses: lines with an end, prefix lengths, ports without `/tcp`,
 * nothing that is disabled.
 */
function portionOf(document: string): string {
  const [, portion = ""] = /<\/type>([^]*)<\/configuration>/.exec(document) ?? [];
  return portion
    .replace("<netmask>255.255.255.0<", "<netmask>24<")
    .replace("<enabled>false</enabled>\n    <open_port>", "<enabled>true</enabled>\n    <open_port>")
    .replace("8080/tcp", "8080")
    .replace("<eula>Second.<", "<eula>Second.\n<")
    .replace(/<boot>[^]*<\/boot>/, "");
}

/** Omits values that a description lacks. docs/command-line.md lists them. */
function comparable({ configuration, files, name, type }: Shown) {
  const {
    tags: _tags,
    settings,
    network,
    scripts,
    autostarts: _autostarts,
    ...rest
  } = configuration as Record<string, unknown>;
  return { name, type, files, rest, settings: { ...(settings as object), ...lost }, network, scripts };
}
const lost = { memory_size: 0, cdrom_enabled: false, pae_enabled: false, public_clonable: false };
