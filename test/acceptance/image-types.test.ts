import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packImage, type PackedImage } from "../../builder-agent/src/build/pack.ts";
import type { BuiltImage } from "../../builder-agent/src/build/image.ts";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { makeDrives } from "../../builder-agent/src/testdrive/disk.ts";
import { makeSessionDir } from "../../builder-agent/src/testdrive/session-dir.ts";
import { driveOf, serialOf } from "./support/boot.ts";
import { buildHere, sampleDistribution, serveDistribution, serveFiles } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, until, type Service } from "./support/service.ts";

const login = /login: ?$/m;
const distribution = sampleDistribution();
let server: Awaited<ReturnType<typeof serveDistribution>>;

beforeAll(async () => void (server = await serveDistribution(distribution)));
afterAll(() => server[Symbol.dispose]());

interface Downloaded {
  built: BuiltImage;
  packed: PackedImage;
  /** The archive's folder, unpacked. */
  folder: string;
  /** What lies in it. */
  names: string[];
}

/** Builds Tiny Linux as that type, and unpacks what people download. */
async function downloaded(
  wish: { imageType: ImageType },
  use: (what: Downloaded) => void | Promise<void>,
): Promise<void> {
  await using state = await temporaryDir();
  const input = await resolvedTiny(distribution, wish);
  await buildHere(input, { stateDir: state.path, url: server.url }, async (built, workDir) => {
    const name = `Kiosk.x86_64-0.0.1.${wish.imageType}`;
    const packed = await packImage(built, name, { workDir, signal: new AbortController().signal });
    expect(execFileSync("sha256sum", [packed.path]).toString()).toContain(packed.digests.sha256);
    expect(packed.fileName).toBe(`${name}${packed.compressed ? ".tar.gz" : ".iso"}`);
    if (packed.compressed) execFileSync("tar", ["-xzf", packed.path, "-C", workDir]);
    const folder = join(workDir, name);
    await use({ built, packed, folder, names: packed.compressed ? readdirSync(folder).toSorted() : [] });
  });
}

describe("a clone made as the specification's default says, without an architecture", () => {
  it("is of i586, resolves, builds and boots", async () => {
    const service = await startService();
    try {
      const tux = restClient(service.ready());
      const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1 });
      expect(appliance.arch).toBe("i586");
      const { build } = await tux.call("POST", "/running_builds", { appliance_id: appliance.id, image_type: "oem" });
      expect((await tux.watchBuild(build.id, 300)).at(-1)?.state).toBe("finished");
      const installed = `/appliances/${appliance.id}/software/installed`;
      const { software_map: map } = await tux.call("GET", installed, { build_id: build.id });
      const packages = [map.repository].flat().flatMap(({ software }) => software.package);
      expect(new Set(packages.map((one) => one["@arch"]))).toEqual(new Set(["i586", "noarch"]));
      const printed = await serialOfTestdrive(service, tux, build.id);
      expect(printed).toMatch(login);
      expect(printed).toContain("-686 "); // Debian's name of its 32-bit kernel
    } finally {
      await service.stop();
    }
  });
});

async function serialOfTestdrive(service: Service, tux: RestClient, buildId: string): Promise<string> {
  const { testdrive } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const file = join(service.stateDir, "agent", "testdrives", testdrive.id, "serial.log");
  return await until("the serial console asks for a login", 120, () => {
    const printed = existsSync(file) ? readFileSync(file, "utf8") : "";
    return login.test(printed) ? printed : undefined;
  });
}

describe("vmx", () => {
  it("is a VMDK that boots at IDE, and the machine around it", async () => {
    await downloaded({ imageType: "vmx" }, async ({ built, folder, names }) => {
      expect(names).toEqual(["Kiosk.x86_64-0.0.1.vmx.vmdk", "Kiosk.x86_64-0.0.1.vmx.vmx"]);
      const vmdk = join(folder, "Kiosk.x86_64-0.0.1.vmx.vmdk");
      const info = JSON.parse(execFileSync("qemu-img", ["info", "--output=json", "-f", "vmdk", vmdk]).toString());
      expect(info["virtual-size"]).toBe(built.rawSize);
      const vmx = readFileSync(join(folder, "Kiosk.x86_64-0.0.1.vmx.vmx"), "utf8");
      expect(vmx).toContain('ide0:0.fileName = "Kiosk.x86_64-0.0.1.vmx.vmdk"');
      expect(await serialOf(driveOf(vmdk, { driver: "vmdk", device: "ide-hd" }), login)).toMatch(login);
    });
  });
});

describe("xen", () => {
  it("is a disk with BIOS boot code, and xl's configuration beside it", async () => {
    await downloaded({ imageType: "xen" }, ({ built, folder, names }) => {
      expect(names).toEqual(["Kiosk.x86_64-0.0.1.xen.cfg", "Kiosk.x86_64-0.0.1.xen.raw"]);
      expectBootableDisk(join(folder, "Kiosk.x86_64-0.0.1.xen.raw"), built.rawSize);
      const configuration = readFileSync(join(folder, "Kiosk.x86_64-0.0.1.xen.cfg"), "utf8");
      expect(configuration).toContain("target=Kiosk.x86_64-0.0.1.xen.raw");
      expect(configuration).toContain('type = "hvm"');
    });
  });
});

describe("ec2", () => {
  it("is a disk with BIOS boot code and nothing beside it", async () => {
    await downloaded({ imageType: "ec2" }, ({ built, folder, names }) => {
      expect(names).toEqual(["Kiosk.x86_64-0.0.1.ec2.raw"]);
      expectBootableDisk(join(folder, "Kiosk.x86_64-0.0.1.ec2.raw"), built.rawSize);
    });
  });
});

describe("net", () => {
  it("is a tree whose kernel fetches its root over HTTP as its own PXE configuration says", async () => {
    await downloaded({ imageType: "net" }, async ({ built, packed, folder, names }) => {
      expect(names).toEqual(["Kiosk.x86_64-0.0.1.net.squashfs", "initrd", "linux", "pxelinux.cfg"]);
      expect(packed.bootable).toBeUndefined();
      const parts = ["Kiosk.x86_64-0.0.1.net.squashfs", "initrd", "linux"].map((name) => statSync(join(folder, name)));
      expect(parts.reduce((sum, { size }) => sum + size, 0)).toBe(built.rawSize);

      const configuration = readFileSync(join(folder, "pxelinux.cfg", "default"), "utf8");
      using web = await serveFiles(folder);
      const append =
        /append (.*)/.exec(configuration)?.[1]?.replace("SERVER", `10.0.2.2:${new URL(web.url).port}`) ?? "";
      const boot = ["-kernel", join(folder, "linux"), "-initrd", join(folder, "initrd"), "-append", append];
      expect(await serialOf([...boot, "-nic", "user,model=virtio-net-pci"], login)).toMatch(login);
    });
  });
});

describe("oemiso", () => {
  it("is a medium that writes the appliance to a testdrive's blank disk, which then boots by itself", async () => {
    await downloaded({ imageType: "oemiso" }, async ({ packed, folder }) => {
      expect(packed.bootable).toEqual({ path: packed.path, format: "iso" });
      await using session = await makeSessionDir(folder, 1);
      const held = { path: packed.path, format: "iso", release: () => {}, [Symbol.dispose]: () => {} } as const;
      const drives = await makeDrives({ image: held, imageType: "oemiso" }, session, new AbortController().signal);
      const printed = await serialOf(drives, login, { seconds: 300, cwd: session.path });
      expect(printed).toContain("INSTALL-DONE");
      expect(printed).toMatch(login);
    });
  });
});

function expectBootableDisk(raw: string, size: number) {
  expect(statSync(raw).size).toBe(size);
  const sector = execFileSync("head", ["--bytes=512", raw]);
  expect(sector.subarray(510).toString("hex")).toBe("55aa");
  expect(sector.toString("latin1")).toContain("GRUB");
}
