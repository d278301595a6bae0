/** For arm64 appliances: the agent that builds them, and the one that starts their machines. */
import { beforeAll, expect, it } from "vitest";
import { eq } from "drizzle-orm";
import type { Capabilities } from "#lib/contract/index";
import { bootFacts } from "#domain/testdrives/testdrive";
import { appliances } from "#storage/schema";
import { signedIn, type Client } from "../support/client.ts";
import { loadDebianForArm64 } from "../support/debian-arm64.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { bootableBuild, claimTestdrive, db, until } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeAll(async () => {
  await loadDebianForArm64();
  tux = await signedIn();
});

it("is the architecture of a clone of such a template, and no other is", async () => {
  const { appliance } = await readXml(await tux.post("/appliances", { clone_from: 901 }));
  expect(appliance.arch).toBe("aarch64");
  const refused = await tux.post("/appliances", { clone_from: 901, arch: "x86_64" });
  expect(await expectError(refused, 400, "invalid_architecture")).toBe("Debian for arm64 has no packages for x86_64.");
});

it("is built by an agent that can, from its own packages, for UEFI and its serial line", async () => {
  const id = await createAppliance(tux, { clone_from: 901, arch: "aarch64" });
  const agent = await fakeAgent();
  const refused = await tux.post("/running_builds", { appliance_id: id, force: "true" });
  expect(await expectError(refused, 400, "configuration_error")).toContain("oem images for aarch64");

  const able: Capabilities = { ...capabilities, arches: ["x86_64", "aarch64"] };
  await agent.hello(able);
  const buildId = await startBuild(tux, id);
  expect(await agent.claims(), "an agent for PCs").toBeUndefined();
  const { input } = (await agent.claimsBuild(buildId, { capabilities: able })).claim;
  expect(input).toMatchObject({ firmware: "efi", appliance: { arch: "aarch64" }, packageType: "deb" });
  expect(new Set(input.packages.map(({ arch }) => arch))).toEqual(new Set(["arm64"]));
  expect(input.packages.map(({ name }) => name)).not.toContain("linux-image-amd64");
  expect(input.description["config.xml"]).toContain("console=tty0 console=ttyAMA0,115200 rw");
  expect(input.imageName).toMatch(/\.aarch64-0\.0\.1\.oem$/);
});

it("refuses what is a PC before the build, with the reason", async () => {
  const id = await createAppliance(tux, { clone_from: 901, arch: "aarch64" });
  const refused = await tux.post("/running_builds", { appliance_id: id, image_type: "vmx", force: "true" });
  expect(await expectError(refused, 400, "invalid_image_type")).toBe("The machine of VMware is a PC.");
});

async function claimed(machines?: string[]) {
  const answer = await claimTestdrive(null, undefined, { ...(machines && { machines }) } as object);
  return (await answer.json<{ testdrive: { buildId: number; arch: string } | null }>()).testdrive;
}

it("starts in a testdrive only where such a machine does", async () => {
  const build = await bootableBuild(tux);
  await db.update(appliances).set({ arch: "aarch64" }).where(eq(appliances.id, build.applianceId));
  expect(await bootFacts(db, build)).toMatchObject({ arch: "aarch64" });
  const posted = tux.post("/testdrives", { build_id: build.id });
  const first = await until(async () => {
    expect(await claimed(), "an agent with PCs only").toBeNull();
    return (await claimed(["x86_64", "i586", "aarch64"])) ?? undefined;
  });
  expect(first).toMatchObject({ buildId: build.id, arch: "aarch64" });
  expect((await posted).status).toBe(200);
});
