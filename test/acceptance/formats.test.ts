import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerTag, type ImageType } from "../../builder-agent/src/contract.ts";
import { downloadBuild } from "./support/download.ts";
import {
  expectShape,
  login,
  serialOfInstallation,
  serialOfNetworkTree,
  serialOfVmdk,
  unpacked,
  type Downloaded,
} from "./support/image-types.ts";
import { newPerson, type Person } from "./support/person.ts";
import { openViewer, tcpWire } from "./support/rfb.ts";
import { watchSession } from "./support/session.ts";
import { sharedService } from "./support/shared-service.ts";

// Runs the whole service with its agent. It builds one version of an appliance in every format, as the specification
// describes. The first is built from scratch, the others from its root or its disk. Each image is then started.

const folder = mkdtempSync(join(tmpdir(), "kiln-formats-"));
const others = [
  "xen",
  "ec2",
  "ova",
  "vagrant_libvirt",
  "vagrant_virtualbox",
  "net",
  "iso",
  "oemiso",
  "oci",
  "wsl",
] as const;
type Format = "vmx" | (typeof others)[number];

let tux: Person;
let applianceId: string;
const builds = new Map<Format, string>();

beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "formats");
  applianceId = (await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" })).appliance.id;
  // The additional packages that network trees, media and installations need. Without them, the roots would differ.
  const needed = ["hello", "syslinux", "dracut-kiwi-live", "dracut-kiwi-oem-dump", "dracut-kiwi-oem-repart"];
  for (const name of needed) await tux.rest.call("POST", `/appliances/${applianceId}/cmd/add_package`, { name });
  const first = await start({ image_type: "vmx" });
  await expect(start({ image_type: "iso", multi: "true" })).rejects.toThrow("initial_build_pending");
  await finished(first);
  builds.set("vmx", first);
  for (const format of others) builds.set(format, await start({ image_type: format, multi: "true" }));
  await Promise.all(others.map((format) => finished(buildOf(format))));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = async (params: { image_type: Format; multi?: string }): Promise<string> =>
  (await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId, ...params })).build.id;

async function finished(buildId: string): Promise<void> {
  const seen = await tux.rest.watchBuild(buildId, 400);
  const percents = seen.map(({ percent }) => percent);
  expect(percents, JSON.stringify(seen)).toEqual(percents.toSorted((left, right) => left - right));
  expect(seen.at(-1), `build ${buildId}`).toEqual({ state: "finished", percent: 100, message: "Finished" });
}

function buildOf(format: Format): string {
  const found = builds.get(format);
  if (found === undefined) throw new Error(`there is no build of ${format}`);
  return found;
}

/** The agent's own lines in a build's log. */
async function wordsOf(format: Format): Promise<string[]> {
  const log = await tux.rest.file(`/running_builds/${buildOf(format)}/log`);
  return [...log.matchAll(/\| Kiln: (.*)/g)].map(([, words = ""]) => words);
}

/** In bytes, as the agent has reported it to the Worker. */
async function rawSizeOf(format: Format): Promise<number> {
  const difference = `/builds/${buildOf("vmx")}/difference`;
  const { difference: told } = await tux.rest.call("GET", difference, { to: buildOf(format) });
  return Number(told.to.raw_size);
}

const downloads = new Map<Format, Promise<Downloaded>>();

/** A user's download of the format, after checks of everything that its type promises. */
function downloadOf(format: Format): Promise<Downloaded> {
  const found = downloads.get(format) ?? download(format);
  downloads.set(format, found);
  return found;
}

async function download(format: Format): Promise<Downloaded> {
  const file = await downloadBuild(tux, buildOf(format), folder);
  const name = file.slice(folder.length + 1).replace(/\.(tar\.gz|iso|ova)$/, "");
  const downloaded = unpacked(file, { name, rawSize: await rawSizeOf(format) });
  expectShape(format satisfies ImageType, downloaded);
  return downloaded;
}

/** A testdrive can start media and disks from the cache without a download. It cannot start network trees. */
const isCached = (format: Format) => existsSync(join(tux.stateDir, "agent/cache", buildOf(format)));

interface ListedPackage {
  name: string;
  version: string;
  release: string;
}

/** The packages that rpm found in the image, by name. */
async function installedIn(format: Format): Promise<string[]> {
  const installed = `/appliances/${applianceId}/software/installed`;
  const { software_map: map } = await tux.rest.call("GET", installed, { build_id: buildOf(format) });
  const repositories = [map.repository ?? map.repositories?.repository].flat();
  const packages: ListedPackage[] = repositories.flatMap((each) => [each.software.package ?? []].flat());
  return packages.map(({ name, version, release }) => `${name}-${version}-${release}`).toSorted();
}

describe("several formats of one version", () => {
  it("share one prepared root or disk, and have the same packages", async () => {
    expect(await wordsOf("vmx")).toContain("Installing software");
    for (const format of ["xen", "ec2", "ova", "vagrant_libvirt", "vagrant_virtualbox"] as const) {
      expect(await wordsOf(format)).toContain("the disk is the one of an earlier format of this version");
    }
    for (const format of ["net", "iso", "oemiso", "oci", "wsl"] as const) {
      expect(await wordsOf(format)).toContain("the image is made from a root that was prepared before");
    }
    const { builds: listed } = await tux.rest.call("GET", "/builds", { appliance_id: applianceId });
    expect(new Set(listed.build.map(({ version }: { version: string }) => version))).toEqual(new Set(["0.0.1"]));
    expect(listed.build).toHaveLength(1 + others.length);
    const installed = await installedIn("vmx");
    expect(installed.length).toBeGreaterThan(10);
    for (const format of others) {
      expect(await wordsOf(format)).not.toContain("Installing software");
      expect(await installedIn(format)).toEqual(installed);
    }
  });
});

describe("vmx", () => {
  it("is a VMDK that boots from IDE, with its machine description", async () => {
    expect(await serialOfVmdk(await downloadOf("vmx"))).toMatch(login);
  });
});

describe.each(["xen", "ec2", "vagrant_libvirt", "vagrant_virtualbox"] as const)("%s", (format) => {
  it("is a disk with BIOS boot code and its type's extra files", async () => {
    await downloadOf(format);
    expect(isCached(format)).toBe(true);
  });
});

describe("ova", () => {
  it("is a package whose disk boots from IDE", async () => {
    const { file, folder: unpackedIn, name } = await downloadOf("ova");
    const names = execFileSync("tar", ["-tf", file], { encoding: "utf8" }).trim().split("\n");
    // DSP0243 defines this order.
    expect(names).toEqual([`${name}.ovf`, `${name}.mf`, "disk.vmdk"]);
    // The disk can only be read, so importers must convert it.
    const convert = ["convert", "-O", "vmdk", join(unpackedIn, "disk.vmdk"), join(unpackedIn, "imported.vmdk")];
    execFileSync("qemu-img", convert);
    expect(await serialOfVmdk({ folder: unpackedIn, name: "imported" })).toMatch(login);
  });
});

describe("net", () => {
  it("is a tree whose kernel fetches its root over HTTP", async () => {
    expect(await serialOfNetworkTree(await downloadOf("net"))).toMatch(login);
    expect(isCached("net")).toBe(false);
  });
});

describe("oci", () => {
  it("is an image that others unpack, and whose programs run", async () => {
    const { file, folder: layout, name } = await downloadOf("oci");
    const tag = containerTag(name).split(":")[1];
    const inspected = execFileSync("skopeo", ["inspect", `oci-archive:${file}`], { encoding: "utf8" });
    expect(JSON.parse(inspected)).toMatchObject({ Architecture: "amd64", Os: "linux" });
    const bundle = join(folder, "bundle");
    execFileSync("umoci", ["unpack", "--image", `${layout}:${tag}`, bundle], { stdio: "ignore" });
    expect(saidIn(join(bundle, "rootfs"), "cat /usr/share/hello/version")).toMatch(/^hello 1\.1/);
  });
});

describe("wsl", () => {
  it("is the root alone, whose programs run", async () => {
    const { folder: root } = await downloadOf("wsl");
    expect(saidIn(root, "cat /usr/share/hello/version; ls /proc")).toMatch(/^hello 1\.1[^\n]*\n$/);
  });
});

const saidIn = (root: string, command: string): string =>
  execFileSync("chroot", [root, "/bin/sh", "-c", command], { encoding: "utf8" });

describe("oemiso", () => {
  it("is a medium that installs the appliance to a blank disk", async () => {
    const printed = await serialOfInstallation(await downloadOf("oemiso"));
    expect(printed).toContain("INSTALL-DONE");
    expect(printed).toMatch(login);
    expect(isCached("oemiso")).toBe(true);
  });
});

describe("iso", () => {
  it("is a live medium with the package, and boots in a testdrive", async () => {
    const { file } = await downloadOf("iso");
    expect(fileInMedium(file, "usr/share/hello/version")).toMatch(/^hello 1\.1/);
    // A machine with a network gets no snapshot, so the agent does not boot it again for one.
    const params = { build_id: buildOf("iso"), network: "on" };
    const { testdrive } = await tux.rest.call("POST", "/testdrives", params);
    const session = await watchSession(tux.stateDir, testdrive);
    const { host, port, password } = testdrive.server.vnc;
    const viaTcp = await openViewer(await tcpWire(host, Number(port)), password);
    expect((await session.viewer.frame()).colours).toBeGreaterThan(1);
    viaTcp.close();
    await session.stop();
  });
});

function fileInMedium(iso: string, path: string): string {
  const out = join(folder, "medium");
  execFileSync("7z", ["x", "-y", `-o${out}`, iso, "LiveOS/squashfs.img"], { stdio: "ignore" });
  execFileSync("unsquashfs", ["-f", "-d", join(out, "root"), join(out, "LiveOS", "squashfs.img")], { stdio: "ignore" });
  return execFileSync("debugfs", ["-R", `cat /${path}`, join(out, "root", "LiveOS", "rootfs.img")]).toString();
}
