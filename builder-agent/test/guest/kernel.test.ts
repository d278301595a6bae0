import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeKernel } from "../../src/guest/kernel.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** Puts a fake apt first in the path. It provides a package with a small kernel of that name. */
function withApt(dir: string, { depends, image }: { depends: string; image: string }) {
  const modules = join(dir, "deb/lib/modules/6.1-cloud");
  for (const path of [join(dir, "bin"), join(dir, "deb/DEBIAN"), join(dir, "deb/boot"), join(modules, "kernel")]) {
    mkdirSync(path, { recursive: true });
  }
  const control =
    "Package: linux-image\nVersion: 1\nArchitecture: amd64\nMaintainer: a <a@example.invalid>\nDescription: a\n";
  writeFileSync(join(dir, "deb/DEBIAN/control"), control);
  writeFileSync(join(dir, "deb", image), "the kernel");
  writeFileSync(join(dir, "empty.s"), "");
  for (const name of ["ext4", "virtio_blk", "loop", "unwanted"]) {
    execFileSync("as", ["-o", join(modules, "kernel", `${name}.ko`), join(dir, "empty.s")]);
  }
  for (const name of ["builtin", "builtin.modinfo", "order"]) writeFileSync(join(modules, `modules.${name}`), "");
  execFileSync("dpkg-deb", ["--build", join(dir, "deb"), join(dir, "kernel.deb")]);
  const script = (name: string, text: string) =>
    writeFileSync(join(dir, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  script("apt-cache", `echo '${depends}'`);
  script("apt-get", `cp ${join(dir, "kernel.deb")} .`);
  vi.stubEnv("PATH", `${join(dir, "bin")}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe("the kernel of guests", () => {
  it.each([
    ["in /boot", "boot/vmlinuz-6.1-cloud"],
    ["next to its modules, as after Debian 13", "lib/modules/6.1-cloud/vmlinuz"],
  ])("has the modules for builds, and an initramfs for its root, if it is %s", async (_, image) => {
    await using dir = await temporaryDir();
    withApt(dir.path, { depends: "  Depends: linux-image-6.1-cloud", image });
    const [into, work] = [join(dir.path, "made"), join(dir.path, "work")];
    for (const path of [into, work]) mkdirSync(path);

    const { version, modulesDir } = await makeKernel(into, work);

    expect(version).toBe("6.1-cloud");
    expect(readFileSync(join(into, "vmlinuz"), "utf8")).toBe("the kernel");
    const index = readFileSync(join(modulesDir, "lib/modules/6.1-cloud/modules.dep"), "utf8");
    expect(index.match(/\w+\.ko/g)?.toSorted()).toEqual(["ext4.ko", "loop.ko", "virtio_blk.ko"]);
    const archive = execFileSync("gunzip", ["-c", join(into, "initrd.gz")], { maxBuffer: 2 ** 26 });
    const names = execFileSync("cpio", ["--list", "--verbose", "--numeric-uid-gid", "--quiet"], {
      input: archive,
      encoding: "utf8",
    });
    for (const line of names.trimEnd().split("\n")) expect(line).toMatch(/^\S+ +\d+ 0 +0 /);
    expect(names).toMatch(/^-rwxr-xr-x .* init$/m);
    expect(names).toMatch(/^-rwxr-xr-x .* builder\.sh$/m);
    expect(names).toMatch(/^-rwxr-xr-x .* bin\/busybox$/m);
    expect(names).toMatch(/ sbin -> bin$/m);
    expect(names.match(/\w+\.ko/g)?.toSorted()).toEqual(["ext4.ko", "virtio_blk.ko"]);
  });

  it.each([
    [
      "apt knows no kernel",
      { depends: "", image: "boot/vmlinuz-6.1" },
      "apt does not list linux-image-cloud-amd64: run apt-get update",
    ],
    [
      "its package has no kernel",
      { depends: "Depends: linux-image-1", image: "boot/config-6.1" },
      "linux-image-cloud-amd64 has no kernel",
    ],
  ])("is reported missing if %s", async (_, apt, why) => {
    await using dir = await temporaryDir();
    withApt(dir.path, apt);
    const [into, work] = [join(dir.path, "made"), join(dir.path, "work")];
    for (const path of [into, work]) mkdirSync(path);
    await expect(makeKernel(into, work)).rejects.toThrow(why);
  });

  it("is not made without cpio", async () => {
    await using dir = await temporaryDir();
    withApt(dir.path, { depends: "  Depends: linux-image-6.1-cloud", image: "boot/vmlinuz-6.1-cloud" });
    const [into, work] = [join(dir.path, "made"), join(dir.path, "work")];
    for (const path of [into, work]) mkdirSync(path);
    writeFileSync(join(dir.path, "bin/cpio"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
    await expect(makeKernel(into, work)).rejects.toThrow();
  });
});
