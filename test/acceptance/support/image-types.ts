import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "vitest";
import { diskPath, imageFormats, type Container, type ImageType } from "../../../builder-agent/src/contract.ts";
import { makeDrives } from "../../../builder-agent/src/testdrive/disk.ts";
import { serialLogName, startQemu } from "../../../builder-agent/src/testdrive/qemu.ts";
import { makeSessionDir } from "../../../builder-agent/src/testdrive/session-dir.ts";
import { getSandbox } from "../../../builder-agent/src/testdrive/session-sandbox.ts";
import { driveOf, longestBootSeconds, serialOf } from "./boot.ts";
import { serveFiles } from "./local-build.ts";
import { until } from "./until.ts";

// For downloads of each type: their contents, and how to start them. This is the same for every way of building.

export const login = /login: ?$/m;

/** A download, unpacked if it is an archive. */
export interface Downloaded {
  /** Without its extension. */
  name: string;
  /** The archive or the medium itself. */
  file: string;
  /** In bytes, as the agent has reported it to the Worker. */
  rawSize: number;
  /** The archive's folder and its files. Empty for a medium. */
  folder: string;
  names: string[];
}

/** Unpacks a download next to itself. */
export function unpacked(file: string, { name, rawSize }: Pick<Downloaded, "name" | "rawSize">): Downloaded {
  const folder = join(dirname(file), name);
  if (file.endsWith(".iso")) return { name, file, rawSize, folder, names: [] };
  const hasNoFolder = /\.(oci|wsl|vagrant_\w+)$/.test(name) || file.endsWith(".ova");
  if (hasNoFolder) mkdirSync(folder);
  execFileSync("tar", ["-xf", file, "-C", hasNoFolder ? folder : dirname(file)]);
  return { name, file, rawSize, folder, names: readdirSync(folder).toSorted() };
}

/** Checks that the download has everything that its type promises. */
export function expectShape(imageType: ImageType, downloaded: Downloaded): void {
  const { product, container, machine, alone } = imageFormats[imageType];
  if (product === "network") return expectNetworkTree(downloaded);
  if (product === "container") return expectContainer(imageType, downloaded);
  if (!container) return expectMedium(downloaded);
  const disk = basename(diskPath(downloaded.name, container, alone));
  const described = machine ? machines[machine](downloaded) : [];
  expect(downloaded.names).toEqual([disk, ...described].toSorted());
  expectDisk(join(downloaded.folder, disk), container, downloaded.rawSize);
}

/** Returns the files that describe the machine. */
const machines = {
  vmx({ name, folder }: Downloaded): string[] {
    expect(readFileSync(join(folder, `${name}.vmx`), "utf8")).toContain(`ide0:0.fileName = "${name}.vmdk"`);
    return [`${name}.vmx`];
  },
  ova({ name, folder, rawSize }: Downloaded): string[] {
    const disk = readFileSync(join(folder, "disk.vmdk"));
    const descriptor = readFileSync(join(folder, `${name}.ovf`), "utf8");
    expect(descriptor).toContain(`ovf:href="disk.vmdk" ovf:size="${disk.length}"`);
    expect(descriptor).toContain(`ovf:capacity="${rawSize}"`);
    const sums = readFileSync(join(folder, `${name}.mf`), "utf8").replaceAll(/^SHA256\((.*)\)= (.*)$/gm, "$2  $1");
    execFileSync("sha256sum", ["--check", "--strict", "--quiet"], { cwd: folder, input: sums });
    return [`${name}.mf`, `${name}.ovf`];
  },
  "libvirt box"({ folder, rawSize }: Downloaded): string[] {
    const metadata: unknown = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"));
    expect(metadata).toEqual({ provider: "libvirt", format: "qcow2", virtual_size: Math.ceil(rawSize / 2 ** 30) });
    return ["metadata.json", "Vagrantfile"];
  },
  "VirtualBox box"({ folder, rawSize }: Downloaded): string[] {
    expect(JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"))).toEqual({ provider: "virtualbox" });
    expect(readFileSync(join(folder, "box.ovf"), "utf8")).toContain(`ovf:capacity="${rawSize}"`);
    return ["metadata.json", "Vagrantfile", "box.ovf"];
  },
  xl({ name, folder }: Downloaded): string[] {
    const configuration = readFileSync(join(folder, `${name}.cfg`), "utf8");
    expect(configuration).toContain(`target=${name}.raw`);
    expect(configuration).toContain('type = "hvm"');
    return [`${name}.cfg`];
  },
};

/** A raw disk must have BIOS boot code. QEMU reports the size of other formats. */
function expectDisk(disk: string, { conversion }: Container, size: number): void {
  if (!conversion) return expectBootableDisk(disk, size);
  const info = execFileSync("qemu-img", ["info", "--output=json", "-f", conversion.driver, disk]).toString();
  expect(JSON.parse(info)["virtual-size"]).toBe(size);
}

function expectNetworkTree({ name, folder, names, rawSize }: Downloaded): void {
  const parts = [`${name}.squashfs`, "initrd", "linux"];
  expect(names).toEqual([...parts, "pxelinux.cfg"]);
  const sizes = parts.map((part) => statSync(join(folder, part)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(rawSize);
}

/** The layout of an image, or the root itself. */
function expectContainer(imageType: ImageType, { file, names, rawSize }: Downloaded): void {
  if (imageFormats[imageType].layout === "oci")
    return expect(names).toEqual(["blobs", "index.json", "manifest.json", "oci-layout"]);
  expect(names).toEqual(expect.arrayContaining(["bin", "etc", "proc", "usr"]));
  expect(execFileSync("sh", ["-c", 'gzip -cd "$0" | wc -c', file], { encoding: "utf8" }).trim()).toBe(`${rawSize}`);
}

function expectMedium({ file, rawSize }: Downloaded): void {
  expect(statSync(file).size).toBe(rawSize);
  const descriptor = execFileSync("dd", [`if=${file}`, "bs=2048", "skip=16", "count=1", "status=none"]);
  expect(descriptor.toString("latin1", 1, 6)).toBe("CD001");
}

function expectBootableDisk(raw: string, size: number): void {
  expect(statSync(raw).size).toBe(size);
  const sector = execFileSync("head", ["--bytes=512", raw]);
  expect(sector.subarray(510).toString("hex")).toBe("55aa");
  expect(sector.toString("latin1")).toContain("GRUB");
}

/** The output of a machine with the VMDK on IDE. */
export const serialOfVmdk = ({ folder, name }: Pick<Downloaded, "folder" | "name">): Promise<string> =>
  serialOf(driveOf(join(folder, `${name}.vmdk`), { driver: "vmdk", device: "ide-hd" }), login);

/** The output of a machine whose kernel fetches its root over HTTP, as the tree's own PXE configuration specifies. */
export async function serialOfNetworkTree({ folder }: Downloaded): Promise<string> {
  const configuration = readFileSync(join(folder, "pxelinux.cfg", "default"), "utf8");
  using web = await serveFiles(folder);
  const [, said = ""] = /append (.*)/.exec(configuration) ?? [];
  const append = said.replace("SERVER", `10.0.2.2:${new URL(web.url).port}`);
  const boot = ["-kernel", join(folder, "linux"), "-initrd", join(folder, "initrd"), "-append", append];
  return await serialOf([...boot, "-nic", "user,model=virtio-net-pci"], login);
}

/**
 * The output of a testdrive's machine. The medium writes the appliance to a blank disk, which then boots on its own.
 */
export async function serialOfInstallation({ file }: Downloaded): Promise<string> {
  await using session = await makeSessionDir(dirname(file), 1);
  const { signal } = new AbortController();
  const image = { path: file, format: "iso", release: () => {}, [Symbol.dispose]: () => {} } as const;
  const drives = await makeDrives({ image, imageType: "oemiso" }, session, signal);
  const { enclosed } = await getSandbox();
  const usual = {
    testdriveId: 1,
    accel: "tcg",
    memoryMb: 512,
    hasNetwork: false,
    seed: [],
    diskBytes: 2 ** 34,
    vnc: null,
  } as const;
  const machine = { ...usual, drives, image: file, enclosed };
  // The medium's kernel prints nothing, so only startQemu notices when it is stuck.
  await using qemu = await startQemu(machine, session, { onEvent: () => {}, signal });
  let isOver = false;
  void qemu.ended.then(() => (isOver = true));
  const printed = () => readFileSync(session.file(serialLogName), "latin1").replaceAll("\r", "");
  await until("the installed system asks for a login", longestBootSeconds, () => isOver || login.test(printed()));
  return printed();
}
