import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { driveOf, serialOf } from "./support/boot.ts";
import { fromRoot, guestBuilds } from "./support/guest-builds.ts";
import { expectShape, login } from "./support/image-types.ts";

// The guest's kernel has 64 bit and runs the image's programs all the same, as that of a machine with 32.

const requests = ["hello", "dracut-kiwi-live", "syslinux"];

let builds: Awaited<ReturnType<typeof guestBuilds>>;

beforeAll(async () => void (builds = await guestBuilds()));
afterAll(() => builds[Symbol.asyncDispose]());

async function build(imageType: ImageType) {
  const made = await builds.build({ imageType, arch: "i586", requests });
  expectShape(imageType, made.downloaded);
  expect(new Set(made.finished.installed.map(({ arch }) => arch))).toEqual(new Set(["i586", "noarch"]));
  return made;
}

describe("of i586, in guests", () => {
  it("a disk is made of nothing, and boots", async () => {
    const { downloaded, words } = await build("oem");
    expect(words).toContain("Installing software");
    const printed = await serialOf(driveOf(join(downloaded.folder, `${downloaded.name}.raw`)), login);
    expect(printed).toMatch(login);
    expect(printed).toContain("-686 "); // Debian's name of its 32-bit kernel
  });

  it("a medium is made of the disk's root, and boots", async () => {
    const { downloaded, words } = await build("iso");
    expect(words).toContain(fromRoot);
    expect(words).not.toContain("Installing software");
    const printed = await serialOf(driveOf(downloaded.file, { device: "ide-cd,bootindex=0", isReadOnly: true }), login);
    expect(printed).toMatch(login);
    expect(printed).toContain("-686 ");
  });
});
