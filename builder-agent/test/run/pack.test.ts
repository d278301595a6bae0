import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { packImage } from "../../src/run/pack.ts";
import { readResult } from "../../src/run/result.ts";
import type { ImageType } from "../../src/contract.ts";
import { temporaryDir } from "../support/agent-place.ts";

const name = "Kiosk.x86_64-0.0.1";
const diskBytes = 1024 * 1024;
const machine = { memoryMb: 768, hasCdrom: true, arch: "x86_64" as const };

/** The files that KIWI leaves for each of its types, including those that the agent does not need. */
const leftByKiwi: Record<string, string[]> = {
  disk: [`${name}.raw`, `${name}.packages`, `${name}.verified`, "kiwi.result.json"],
  "install medium": [`${name}.raw`, `${name}.install.iso`, `${name}.packages`],
  medium: [`${name}.iso`, `${name}.packages`],
  root: [`${name}.tar.xz`, `${name}.packages`, `${name}.changes`],
  net: [
    name,
    `${name}.md5`,
    `${name}-6.1.kernel`,
    `${name}.initrd`,
    `${name}.append`,
    `${name}.tar.xz`,
    `${name}.packages`,
  ],
};

function target(dir: string, names: string[]): string {
  const path = join(dir, "target");
  mkdirSync(path);
  for (const each of names)
    writeFileSync(join(path, each), each.endsWith(".packages") ? "" : each.padEnd(diskBytes, "."));
  return path;
}

/** Packs as the agent does, and unpacks the download. Returns the content by path. */
async function packed(dir: string, imageType: ImageType, kind: string, change: Partial<typeof machine> = {}) {
  const files = target(dir, leftByKiwi[kind] ?? []);
  const built = { ...(await readResult(files, imageType)), machine: { ...machine, ...change } };
  const image = await packImage(built, "Kiosk.built", { workDir: dir, signal: new AbortController().signal });
  if (image.compressed) execFileSync("tar", ["-xzf", image.path, "-C", dir]);
  const listed = image.compressed ? execFileSync("tar", ["-tzf", image.path]).toString() : "";
  return {
    built,
    image,
    names: listed.split("\n").filter((each) => /[^/]$/.test(each)),
    folder: join(dir, "Kiosk.built"),
  };
}

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const blobPath = ({ digest }: { digest: string }): string => digest.replace("sha256:", "blobs/sha256/");

describe("packImage", () => {
  it.each<[ImageType, string, string, string[], "raw" | "iso" | undefined]>([
    ["oem", "disk", "Kiosk.built.tar.gz", ["Kiosk.built/Kiosk.built.raw"], "raw"],
    ["ec2", "disk", "Kiosk.built.tar.gz", ["Kiosk.built/Kiosk.built.raw"], "raw"],
    ["xen", "disk", "Kiosk.built.tar.gz", ["Kiosk.built/Kiosk.built.cfg", "Kiosk.built/Kiosk.built.raw"], "raw"],
    ["vmx", "disk", "Kiosk.built.tar.gz", ["Kiosk.built/Kiosk.built.vmdk", "Kiosk.built/Kiosk.built.vmx"], "raw"],
    [
      "net",
      "net",
      "Kiosk.built.tar.gz",
      ["Kiosk.built.squashfs", "initrd", "linux", "pxelinux.cfg/default"].map((each) => `Kiosk.built/${each}`),
      undefined,
    ],
    ["iso", "medium", "Kiosk.built.iso", [], "iso"],
    ["oemiso", "install medium", "Kiosk.built.iso", [], "iso"],
  ])("makes the expected download of %s", async (imageType, kind, ...expected) => {
    const [fileName, names, bootable] = expected;
    await using dir = await temporaryDir();

    const { image, built, ...found } = await packed(dir.path, imageType, kind);

    expect(image.fileName).toBe(fileName);
    expect(found.names).toEqual(names);
    expect(image.bootable?.format).toBe(bootable);
    expect(built.rawSize).toBe(imageType === "net" ? 3 * diskBytes : diskBytes);
    expect((await stat(image.path)).size).toBe(image.digests.size);
    expect(execFileSync("sha256sum", [image.path]).toString()).toContain(image.digests.sha256);
    const disk = names.find((each) => /\.(?:raw|vmdk)$/.test(each));
    expect(image.diskSha256).toBe(disk && sha256Of(await readFile(join(dir.path, disk))));
    if (image.bootable?.format === "raw")
      expect(await readFile(image.bootable.path, "utf8")).toMatch(/^Kiosk.*\.raw\./);
    if (imageType === "oemiso") expect(await readFile(image.path, "utf8")).toMatch(/^Kiosk.*\.install\.iso/);
  });

  it("has dracut fetch the root of net, and mount it below an overlay", async () => {
    await using dir = await temporaryDir();
    const { folder } = await packed(dir.path, "net", "net");
    expect(readFileSync(join(folder, "pxelinux.cfg", "default"), "utf8")).toMatch(
      /append root=live:http:.*\/Kiosk\.built\.squashfs .*rd\.live\.overlay\.overlayfs=1 /,
    );
  });

  it("describes the appliance's machine for VMware", async () => {
    await using dir = await temporaryDir();
    const { folder } = await packed(dir.path, "vmx", "disk");
    const vmx = readFileSync(join(folder, "Kiosk.built.vmx"), "utf8");
    expect(vmx).toContain('memsize = "768"\n');
    expect(vmx).toContain('guestOS = "other26xlinux-64"\n');
    expect(vmx).toContain('ide0:0.fileName = "Kiosk.built.vmdk"\n');
    expect(vmx).toContain('ide1:0.deviceType = "cdrom-raw"\n');
  });

  it("describes no CD-ROM drive if the appliance has none", async () => {
    await using dir = await temporaryDir();
    const { folder } = await packed(dir.path, "vmx", "disk", { hasCdrom: false });
    expect(readFileSync(join(folder, "Kiosk.built.vmx"), "utf8")).not.toContain("cdrom");
  });

  it("packs a package of OVF in its order, without compression, and with its checksums", async () => {
    await using dir = await temporaryDir();
    const files = target(dir.path, leftByKiwi["disk"] ?? []);
    const built = { ...(await readResult(files, "ova")), machine };
    const image = await packImage(built, "Kiosk.ova", { workDir: dir.path, signal: new AbortController().signal });
    expect(image.fileName).toBe("Kiosk.ova");
    const names = execFileSync("tar", ["-tf", image.path], { encoding: "utf8" });
    expect(names).toBe("Kiosk.ovf\nKiosk.mf\ndisk.vmdk\n");
    execFileSync("tar", ["-xf", image.path, "-C", dir.path]);
    const disk = await stat(join(dir.path, "disk.vmdk"));
    const descriptor = readFileSync(join(dir.path, "Kiosk.ovf"), "utf8");
    expect(descriptor).toContain(`<File ovf:id="file1" ovf:href="disk.vmdk" ovf:size="${disk.size}"/>`);
    expect(descriptor).toContain(`ovf:capacity="${diskBytes}"`);
    expect(descriptor).toContain("<rasd:VirtualQuantity>768</rasd:VirtualQuantity>");
    const sums = readFileSync(join(dir.path, "Kiosk.mf"), "utf8").replaceAll(/^SHA256\((.*)\)= (.*)$/gm, "$2  $1");
    execFileSync("sha256sum", ["--check", "--strict", "--quiet"], { cwd: dir.path, input: sums });
    expect(sums.split("\n")).toHaveLength(3);
  });

  it.each<[ImageType, string[], Record<string, unknown>]>([
    [
      "vagrant_libvirt",
      ["metadata.json", "Vagrantfile", "box.img"],
      { provider: "libvirt", format: "qcow2", virtual_size: 1 },
    ],
    ["vagrant_virtualbox", ["metadata.json", "Vagrantfile", "box.ovf", "disk.vmdk"], { provider: "virtualbox" }],
  ])("packs the box %s without a folder", async (imageType, files, metadata) => {
    await using dir = await temporaryDir();
    const { names } = await packed(dir.path, imageType, "disk");
    expect(names).toEqual(files);
    expect(JSON.parse(readFileSync(join(dir.path, "metadata.json"), "utf8"))).toEqual(metadata);
    const info = execFileSync("qemu-img", ["info", "--output=json", join(dir.path, files.at(-1) ?? "")]);
    expect(JSON.parse(info.toString())["virtual-size"]).toBe(diskBytes);
  });

  it("describes the machine for Xen", async () => {
    await using dir = await temporaryDir();
    const { folder } = await packed(dir.path, "xen", "disk");
    const configuration = readFileSync(join(folder, "Kiosk.built.cfg"), "utf8");
    expect(configuration).toContain("memory = 768\n");
    expect(configuration).toContain('disk = [ "format=raw, vdev=xvda, access=rw, target=Kiosk.built.raw" ]\n');
  });

  it("packs a container as an image whose blobs have their digests as names", async () => {
    await using dir = await temporaryDir();
    const { built, names } = await packed(dir.path, "oci", "root");
    const read = (file: string) => readFileSync(join(dir.path, file));
    const blobs = names.filter((each) => each.startsWith("blobs/"));
    expect(blobs).toHaveLength(3);
    for (const blob of blobs)
      expect(blob).toBe(`blobs/sha256/${createHash("sha256").update(read(blob)).digest("hex")}`);

    expect(JSON.parse(read("oci-layout").toString())).toEqual({ imageLayoutVersion: "1.0.0" });
    const blobOf = ({ digest, size }: { digest: string; size: number }) => {
      const bytes = read(blobPath({ digest }));
      expect(bytes.length).toBe(size);
      return bytes;
    };
    const manifest = JSON.parse(blobOf(JSON.parse(read("index.json").toString()).manifests[0]).toString());
    const layer = blobOf(manifest.layers[0]);
    expect([layer.length, layer.subarray(0, 5).toString()]).toEqual([built.rawSize, "Kiosk"]);
    const config = JSON.parse(blobOf(manifest.config).toString());
    expect(config).toMatchObject({
      architecture: "amd64",
      os: "linux",
      rootfs: { diff_ids: [manifest.layers[0].digest] },
    });
    const [saved] = JSON.parse(read("manifest.json").toString());
    expect(saved).toMatchObject({ Config: blobPath(manifest.config), Layers: manifest.layers.map(blobPath) });
  });

  it("compresses the root of WSL, and nothing else", async () => {
    await using dir = await temporaryDir();
    const files = target(dir.path, leftByKiwi["root"] ?? []);
    const built = { ...(await readResult(files, "wsl")), machine };
    const root = readFileSync(built.image);
    const { path, fileName, bootable } = await packImage(built, "Kiosk.built", {
      workDir: dir.path,
      signal: new AbortController().signal,
    });
    expect([fileName, bootable]).toEqual(["Kiosk.built.tar.gz", undefined]);
    expect(Buffer.compare(gunzipSync(readFileSync(path)), root)).toBe(0);
  });

  it("refuses several products", async () => {
    await using dir = await temporaryDir();
    const two = target(dir.path, ["a.raw", "b.raw", "a.packages"]);
    await expect(readResult(two, "oem")).rejects.toThrow("several .raw files");
    await expect(readResult(two, "iso")).rejects.toThrow("no .iso files");
  });
});
