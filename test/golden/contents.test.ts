import { beforeAll, beforeEach, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { readXml } from "../support/xml.ts";
import { madeId } from "../api/every-call/sample.ts";
import tinyKey from "../fixtures/repodata/signed/tiny.key?raw";
import { expectLike, fixture } from "./fixtures.ts";
import { shapeOf } from "./shape.ts";

let tux: Client;
let id: number;

beforeAll(loadTemplates);
beforeEach(async () => {
  tux = await signedIn();
  id = await createAppliance(tux);
});

it("matches the example of configuration", async () => {
  await expectLike("configuration_min", await tux.get("/appliances/1/configuration"));
  await expectLike("configuration_min", await tux.get(`/appliances/${id}/configuration`));

  await expectLike("configuration", await tux.put(`/appliances/${id}/configuration`, fixture("configuration")));
  await expectLike("configuration", await tux.get(`/appliances/${id}/configuration`));
});

it("accepts a partial configuration as its example sends it", async () => {
  await tux.put(`/appliances/${id}/configuration`, fixture("configuration"));

  const { configuration } = await readXml(
    await tux.put(`/appliances/${id}/configuration`, fixture("configuration_put")),
  );

  expect(configuration.network).toEqual({ type: "dhcp" });
  expect(configuration.settings.automatic_login).toBe("clerk");
});

it("matches the examples of file and files", async () => {
  const file = await uploadFile(tux, id, "port = 7000\n", {
    name: "counter.conf",
    query: { path: "/etc", owner: "root" },
  });

  await expectLike("file", await tux.get(`/files/${file.id}`));
  await expectLike("files", await tux.get(`/files?appliance_id=${id}`));

  const { file: changed } = await readXml(await tux.put(`/files/${file.id}`, fixture("file_put")));
  const { file: asked } = await readXml(new Response(fixture("file_put"), { headers: xmlType }));
  expect(changed).toMatchObject(asked);
});

const xmlType = { "content-type": "application/xml; charset=utf-8" };

it("matches the examples of gpg_key and gpg_keys", async () => {
  const key = await madeId(tux, "POST", `/appliances/${id}/gpg_keys?name=Tiny&target=rpm`, { file: tinyKey });

  await expectLike("gpg_key", await tux.get(`/appliances/${id}/gpg_keys/${key}`));
  await expectLike("gpg_keys", await tux.get(`/appliances/${id}/gpg_keys`));
});

it("matches the example of manifest", async () => {
  const { applianceId } = await createBuild(tux);

  const answer = await tux.get(`/appliances/${applianceId}/software/manifest/oem`);

  expect(answer.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  const document = await answer.text();
  expect(document).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<manifest>\n/);
  const withoutDescription = document.replace(/(<image [^>]*)>.*<\/image>/s, "$1/>");
  expect(shapeOf(withoutDescription)).toBe(shapeOf(fixture("manifest")));
});
