import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { removeBaseSystemFact, setBaseSystemFact } from "../support/base-system-facts.ts";
import { TestdriveClaimAnswer } from "#lib/contract/index";
import { firmwareOfBuild } from "#domain/images/firmware";
import { rowOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, createSafeAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { stock, tinyLinux, tinyRepository } from "../support/repositories.ts";
import { bootableBuild, claimTestdrive, until } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";

// Tiny Linux with a shim and a signed GRUB, which the real one lacks.

const loader = "grub2-x86_64-efi";
const loaders = ["tiny-shim", "tiny-grub-signed"];
let tux: Client;

beforeAll(async () => {
  await createAppliance(await signedIn()); // which loads the catalogue
  const more = [`${loader}-2.06 requires grub2`, `tiny-shim-1.0 requires ${loader}`, "tiny-grub-signed-1.0.noarch"];
  await stock(await tinyRepository("main"), [...tinyLinux.main, ...more]);
});
beforeEach(async () => {
  tux = await signedIn();
  await setBaseSystemFact("secureBoot", loaders);
});
afterEach(async () => {
  await removeBaseSystemFact("secureBoot");
});

async function applianceWith(...names: string[]): Promise<number> {
  const id = await createSafeAppliance(tux);
  for (const name of names) await tux.post(`/appliances/${id}/cmd/add_package`, { name });
  return id;
}

const issuesOf = async (id: number): Promise<{ type: string; text: string }[]> => {
  const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
  return [status.issues?.issue ?? []].flat();
};

describe("an appliance with shim", () => {
  it("also gets the signed GRUB, and its image boots with Secure Boot", async () => {
    const agent = await fakeAgent();
    const id = await applianceWith("tiny-shim");
    expect(await issuesOf(id)).toEqual([]);
    const buildId = await startBuild(tux, id);

    const { input } = (await agent.claimsBuild(buildId)).claim;

    expect(input.packages.map(({ name }) => name)).toEqual(expect.arrayContaining(loaders));
    // An older agent, which does not support Secure Boot, also builds it.
    expect([input.firmware, input.hasSecureBoot]).toEqual(["efi", true]);
    expect(input.description["config.xml"]).toContain('firmware="uefi"');
    expect(input.description["config.sh"]).toMatch(/^place_signed_loaders$/m);
    expect(firmwareOfBuild(await rowOfBuild(buildId))).toBe("uefi");
  });

  it("is built as before without the fact of the base system", async () => {
    await removeBaseSystemFact("secureBoot");
    const agent = await fakeAgent();
    const buildId = await startBuild(tux, await applianceWith("tiny-shim"));

    const { input } = (await agent.claimsBuild(buildId)).claim;

    expect(input.packages.map(({ name }) => name)).not.toContain("tiny-grub-signed");
    expect([input.firmware, input.hasSecureBoot]).toEqual(["efi", undefined]);
    expect(input.description["config.sh"]).not.toContain("place_signed_loaders");
    expect(firmwareOfBuild(await rowOfBuild(buildId))).toBe("efi");
  });
});

it("warns of a signed GRUB without shim", async () => {
  const [issue, ...others] = await issuesOf(await applianceWith("tiny-grub-signed"));
  expect(others).toEqual([]);
  expect(issue).toMatchObject({
    type: "warning",
    text: "The package tiny-grub-signed is for Secure Boot, but tiny-shim is not selected: the image does not boot with Secure Boot.",
  });
});

it.each([true, false])(
  "tells the agent of a testdrive whether the machine must have it (%s)",
  async (hasSecureBoot) => {
    const build = await bootableBuild(tux, { needsEfi: true, hasSecureBoot });
    const posted = tux.post("/testdrives", { build_id: build.id });
    const claim = await until(async () => {
      const { testdrive } = TestdriveClaimAnswer.parse(await (await claimTestdrive()).json());
      return testdrive?.buildId === build.id ? testdrive : undefined;
    });
    expect(claim.hasSecureBoot).toBe(hasSecureBoot);
    await posted;
  },
);
