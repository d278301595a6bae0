import { afterAll, beforeAll, expect, it } from "vitest";
import { removeBaseSystemFact, setBaseSystemFact } from "../support/base-system-facts.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createSafeAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { stock, tinyLinux, tinyRepository } from "../support/repositories.ts";

// Tiny Linux with a program that makes unified kernels, which the real one lacks.

const loader = "grub2-x86_64-efi";
const makers = ["tiny-ukify", "tiny-stub"];
let tux: Client;

beforeAll(async () => {
  tux = await signedIn();
  await createAppliance(tux); // which loads the catalogue
  const more = [`${loader}-2.06 requires grub2`, "tiny-ukify-1.0.noarch", "tiny-stub-1.0.noarch"];
  await stock(await tinyRepository("main"), [...tinyLinux.main, ...more]);
  await setBaseSystemFact("unifiedKernel", makers);
});
afterAll(async () => {
  await removeBaseSystemFact("unifiedKernel");
});

async function inputWith(names: readonly string[], params: Record<string, string> = {}) {
  const id = await createSafeAppliance(tux);
  for (const name of names) await tux.post(`/appliances/${id}/cmd/add_package`, { name });
  const agent = await fakeAgent();
  const { claim } = await agent.claimsBuild(await startBuild(tux, id, params));
  return claim.input;
}

it("makes room for the program, and makes it before KIWI fills the partitions", async () => {
  const { packages, description } = await inputWith([loader, "tiny-ukify"]);
  expect(packages.map(({ name }) => name)).toEqual(expect.arrayContaining(makers));
  expect(description["config.xml"]).toContain('efipartsize="256"');
  expect(description["pre_disk_sync.sh"]).toContain("ukify build");
});

it.each([
  ["boots only by BIOS", ["tiny-ukify"], {}],
  ["is a medium", [loader, "tiny-ukify"], { image_type: "iso" }],
  ["lacks the package", [loader], {}],
])("does neither if the image %s", async (_what, names, params) => {
  const { description } = await inputWith(names, params);
  expect(description["config.xml"]).not.toContain("efipartsize");
  expect(description).not.toHaveProperty(["pre_disk_sync.sh"]);
});
