import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { BuildClaimAnswer } from "#lib/contract/index";
import { signedIn, type Client } from "../support/client.ts";
import { putPortion } from "../support/configurations.ts";
import { createSafeAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
  await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
});

async function applianceWith(settings: string): Promise<number> {
  const id = await createSafeAppliance(tux);
  const facts = `json_set(facts, '$.fileSystem', json('{"xfs":["hello"]}'))`;
  await env.DB.prepare(`UPDATE base_systems SET facts = ${facts}`).run();
  const answer = await putPortion(tux, id, `<settings>${settings}</settings>`);
  expect(answer.status, await answer.text()).toBe(200);
  return id;
}

const xfs = "<file_system>xfs</file_system>";

async function claimWith(more: object) {
  const json = { capabilities: { ...capabilities, ...more } };
  const answer = await (await fakeAgent()).call("POST", "/builds/claim", { json });
  return BuildClaimAnswer.parse(await answer.json()).build ?? undefined;
}

describe("a disk with another file system than ext4", () => {
  it("is refused before the build if it does not fit, with one sentence", async () => {
    const id = await applianceWith(`${xfs}<disk_size>100M</disk_size>`);
    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
    expect([status.issues.issue].flat()).toContainEqual({
      type: "error",
      text: "A root with xfs needs 300 MB, but a disk of 100 MB has only 99 MB for it.",
    });
    await expectError(await tux.post("/running_builds", { appliance_id: id }), 400, "configuration_error");
    const other = await tux.post("/running_builds", { appliance_id: id, image_type: "net" });
    expect(other.status, await other.text()).toBe(200);
  });

  it("is refused if no builder can make it, with the reason", async () => {
    const id = await applianceWith(xfs);
    await (await fakeAgent()).hello({ noFileSystem: { xfs: "mkfs.xfs" } });
    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
    const text = "No builder of this service can make a disk with xfs. They lack: mkfs.xfs.";
    expect(status).toMatchObject({ state: "error", issues: { issue: { type: "error", text } } });
  });

  it("goes to a builder that can make it, not to another, with the packages for it", async () => {
    while (await claimWith({}));
    const buildId = await startBuild(tux, await applianceWith(xfs));
    const plain = await startBuild(tux, await createSafeAppliance(tux));

    expect((await claimWith({ noFileSystem: { xfs: "kernel: xfs" } }))?.buildId).toBe(plain);
    expect(await claimWith({ noFileSystem: { xfs: "kernel: xfs" } })).toBeUndefined();
    const claimed = await claimWith({});
    expect(claimed?.buildId).toBe(buildId);
    expect(claimed?.input.packages.map(({ name }) => name)).toContain("hello");
    expect(claimed?.input.description["config.xml"]).toContain(' filesystem="xfs" ');
  });
});
