import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BuildClaimAnswer, type Capabilities } from "#lib/contract/index";
import { agentsSeen } from "#domain/builds/agents-seen";
import { openDatabase } from "#storage/db";
import { rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createSafeAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { stock, tinyLinux, tinyRepository } from "../support/repositories.ts";
import { expectError, readXml } from "../support/xml.ts";

const loader = "grub2-x86_64-efi";
const all: Partial<Capabilities> = { imageTypes: ["oem", "iso", "vmx", "net"], arches: ["x86_64", "i586"] };
let tux: Client;

beforeAll(async () => {
  await createAppliance(await signedIn()); // which loads the catalogue
  const more = [`${loader}-2.06 requires grub2`, `loader-friend-1.0.noarch requires ${loader}`];
  await stock(await tinyRepository("main"), [...tinyLinux.main, ...more]);
});
beforeEach(async () => {
  tux = await signedIn();
  await env.DB.prepare("UPDATE agents SET capabilities = NULL").run();
});

async function applianceWith(name?: string): Promise<number> {
  const id = await createSafeAppliance(tux);
  if (name === undefined) return id;
  const { success } = await readXml(await tux.post(`/appliances/${id}/cmd/add_package`, { name }));
  expect(success.details.status.state).toBe("changed");
  return id;
}

/** The next build for an agent with these capabilities. */
async function claimWith(change: object) {
  const agent = await fakeAgent();
  const json = { capabilities: { ...capabilities, ...change } };
  return BuildClaimAnswer.parse(await (await agent.call("POST", "/builds/claim", { json })).json()).build ?? undefined;
}

const emptyQueue = async () => {
  while (await claimWith(all));
};

describe("the firmware of a frozen input", () => {
  it.each([
    ["bios without an EFI boot loader", undefined, "oem", "bios"],
    ["efi with the boot loader", loader, "oem", "efi"],
    ["efi if another package requires the boot loader", "loader-friend", "vmx", "efi"],
    ["efi for a medium with the boot loader", loader, "iso", "efi"],
    ["bios for an image that boots from a network", loader, "net", "bios"],
  ] as const)("is %s", async (_what, name, imageType, firmware) => {
    await emptyQueue();
    await (await fakeAgent()).hello(all);
    const buildId = await startBuild(tux, await applianceWith(name), { image_type: imageType });
    const claim = await claimWith(all);

    expect(claim?.buildId).toBe(buildId);
    expect(claim?.input.firmware).toBe(firmware);
    const [, told] = /firmware="(\w+)"/.exec(claim?.input.description["config.xml"] ?? "") ?? [];
    expect(told).toBe(imageType === "net" ? undefined : firmware);
  });
});

describe("an image that boots by UEFI", () => {
  it("is refused immediately if no builder supports it, with the reason", async () => {
    const id = await applianceWith(loader);
    await (await fakeAgent()).hello({ imageTypes: ["oem", "net", "iso"], noEfi: { oem: "kernel: vfat, mkdosfs" } });

    const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
    const message = await expectError(
      await tux.post("/running_builds", { appliance_id: id }),
      400,
      "configuration_error",
    );

    expect(message).toContain(`boots with UEFI, which ${loader} requires. They lack: kernel: vfat, mkdosfs.`);
    expect([status.state, status.issues.issue]).toEqual(["error", { type: "error", text: message }]);
    const { running_builds: builds } = await readXml(await tux.get(`/running_builds?appliance_id=${id}`));
    expect(builds.running_build).toBeUndefined();
    const other = await applianceWith(loader);
    expect((await tux.post("/running_builds", { appliance_id: id, image_type: "net" })).status).toBe(200);
    expect((await tux.post("/running_builds", { appliance_id: other, image_type: "iso" })).status).toBe(200);
  });

  it("goes to a builder that supports it, not to another", async () => {
    await emptyQueue();
    const buildId = await startBuild(tux, await applianceWith(loader));
    const plain = await startBuild(tux, await applianceWith());
    const medium = await startBuild(tux, await applianceWith(loader), { image_type: "iso" });
    const unable = { imageTypes: ["oem", "iso"], noEfi: { oem: "kernel: vfat" } };

    expect((await claimWith(unable))?.buildId).toBe(plain);
    expect((await claimWith(unable))?.buildId).toBe(medium);
    expect(await claimWith(unable)).toBeUndefined();
    expect((await claimWith({}))?.buildId).toBe(buildId);
  });

  it("waits for a builder that supports it", async () => {
    const buildId = await startBuild(tux, await applianceWith(loader));

    const build = { ...(await rowOfBuild(buildId)), arch: "x86_64" as const };
    await (await fakeAgent()).hello({ noEfi: { oem: "kernel: vfat" } });
    await (await fakeAgent()).hello({ arches: ["i586"] });
    expect(await agentsSeen({ env, db: openDatabase(env) }, build)).toBe("none");
    await (await fakeAgent()).hello();
    expect(await agentsSeen({ env, db: openDatabase(env) }, build)).toBe("busy");
  });
});
