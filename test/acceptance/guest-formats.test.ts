import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { fromDisk, fromRoot, guestBuilds, type GuestBuild } from "./support/guest-builds.ts";
import {
  expectShape,
  login,
  serialOfInstallation,
  serialOfNetworkTree,
  type Downloaded,
} from "./support/image-types.ts";

// One version in types of every kind: the root goes out of the first guest as an archive and into the next, and the disk is
// made once for all containers. What network trees and installations need besides is in each, so that the root is one.

const requests = ["hello", "dracut-kiwi-live", "syslinux", "dracut-kiwi-oem-dump", "dracut-kiwi-oem-repart"];

let builds: Awaited<ReturnType<typeof guestBuilds>>;
let first: GuestBuild;

beforeAll(async () => void (builds = await guestBuilds()));
afterAll(() => builds[Symbol.asyncDispose]());

const build = (imageType: ImageType) => builds.build({ imageType, requests });

/** Fails unless the type came of vmx's root alone. */
async function buildOfRoot(imageType: ImageType): Promise<Downloaded> {
  const { downloaded, words, finished } = await build(imageType);
  expectShape(imageType, downloaded);
  expect(words).toEqual(expect.arrayContaining([fromRoot, "Creating the image"]));
  expect(words).not.toContain("Installing software");
  expect(finished.installed).toEqual(first.finished.installed);
  return downloaded;
}

describe("in guests, of one version", () => {
  it("vmx is made of nothing", async () => {
    first = await build("vmx");
    expectShape("vmx", first.downloaded);
    expect(first.words).toContain("Installing software");
    expect(first.words).not.toContain(fromRoot);
    expect(readdirSync(join(builds.stateDir, "prepared/roots"))).toHaveLength(1);
    expect(readdirSync(join(builds.stateDir, "prepared/disks"))).toHaveLength(1);
  });

  it.each(["xen", "ec2"] as const)("%s is the disk of vmx in another container", async (imageType) => {
    const { downloaded, words, finished } = await build(imageType);
    expectShape(imageType, downloaded);
    expect(words).toContain(fromDisk);
    expect(words).not.toContain("Creating the image");
    expect(finished.installed).toEqual(first.finished.installed);
  });

  it("net is made of vmx's root, and starts from it over HTTP", async () => {
    expect(await serialOfNetworkTree(await buildOfRoot("net"))).toMatch(login);
  });

  it("oemiso is made of vmx's root, and installs itself to a blank disk, which then boots", async () => {
    const printed = await serialOfInstallation(await buildOfRoot("oemiso"));
    expect(printed).toContain("INSTALL-DONE");
    expect(printed).toMatch(login);
  });
});
