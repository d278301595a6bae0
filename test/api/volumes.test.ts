import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { BuildClaimAnswer } from "#lib/contract/index";
import { signedIn, type Client } from "../support/client.ts";
import { documentOf, putPortion } from "../support/configurations.ts";
import { createSafeAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
  await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
});

const lvm = "<lvm><enabled>true</enabled><volume_group>kioskVG</volume_group></lvm>";
const volumes = `<settings><disk_size>4</disk_size></settings>${lvm}`;

async function applianceWithVolumes(): Promise<number> {
  const id = await createSafeAppliance(tux);
  expect((await putPortion(tux, id, volumes)).status).toBe(200);
  return id;
}

const claimWith = async (more: object) => {
  const agent = await fakeAgent();
  const json = { capabilities: { ...capabilities, ...more } };
  return BuildClaimAnswer.parse(await (await agent.call("POST", "/builds/claim", { json })).json()).build?.buildId;
};

describe("a disk with volumes", () => {
  it("is refused immediately if no builder supports it, with the reason", async () => {
    const id = await applianceWithVolumes();
    const agent = await fakeAgent();
    await agent.hello({ noLvm: "kernel: dm_mod" });

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
    const message = await expectError(
      await tux.post("/running_builds", { appliance_id: id }),
      400,
      "configuration_error",
    );

    expect(message).toContain("They lack: kernel: dm_mod.");
    expect([status.state, [status.issues.issue].flat().map(({ text }) => text)]).toEqual([
      "error",
      [expect.stringContaining("lvm2 is not selected"), message],
    ]);
    const { running_builds: builds } = await readXml(await tux.get(`/running_builds?appliance_id=${id}`));
    expect(builds.running_build).toBeUndefined();
    expect((await tux.post("/running_builds", { appliance_id: id, image_type: "iso" })).status).toBe(200);
  });

  it("has a warning if its root volume may be too small", async () => {
    const id = await createSafeAppliance(tux);
    await putPortion(tux, id, lvm); // of 512 MB in all

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));

    expect(status.state).toBe("ok");
    expect([status.issues.issue].flat().map(({ type, text }) => `${type}: ${text}`)).toContainEqual(
      expect.stringMatching(/^warning: The software needs \d+ MB, but the root volume \(LVM\) has only 208 MB: /),
    );
  });

  it("does not build if its volumes exceed the disk", async () => {
    const id = await createSafeAppliance(tux); // 512 MB, shown as 1 GB
    const sizes = "<volumes><volume><path>/srv</path><size>1400M</size></volume></volumes>";
    const settings = "<settings><memory-size>512</memory-size><pae-enabled>false</pae-enabled></settings>";
    const answer = await putPortion(tux, id, `${settings}${lvm.replace("</lvm>", `${sizes}</lvm>`)}`);
    const shown = await documentOf(tux, id);

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
    const message = await expectError(
      await tux.post("/running_builds", { appliance_id: id, force: "true" }),
      400,
      "configuration_error",
    );

    expect(answer.status).toBe(200);
    expect(message).toMatch(
      /^The volumes \(LVM\) need 1432 MB, 32 MB of it for the root volume, but a disk of 512 MB has room for 208 MB of/,
    );
    expect([status.state, [status.issues.issue].flat()]).toEqual([
      "error",
      expect.arrayContaining([{ type: "error", text: message }]),
    ]);
    expect(await (await tux.put(`/appliances/${id}/configuration`, shown)).text()).toBe(shown);
    await putPortion(tux, id, "<settings><disk-size>2</disk-size></settings>");
    expect((await readXml(await tux.get(`/appliances/${id}/status`))).status.state).toBe("ok");
  });

  it("goes to a builder that supports it, not to another", async () => {
    while ((await claimWith({})) !== undefined);
    const buildId = await startBuild(tux, await applianceWithVolumes());
    const plain = await startBuild(tux, await createSafeAppliance(tux));

    expect(await claimWith({ noLvm: "lvm2" })).toBe(plain);
    expect(await claimWith({ noLvm: "lvm2" })).toBeUndefined();
    expect(await claimWith({})).toBe(buildId);
  });
});
