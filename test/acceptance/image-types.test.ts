import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packImage, type PackedImage } from "../../builder-agent/src/build/pack.ts";
import type { ImageType } from "../../builder-agent/src/contract.ts";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import {
  expectShape,
  login,
  serialOfInstallation,
  serialOfNetworkTree,
  serialOfVmdk,
  unpacked,
  type Downloaded,
} from "./support/image-types.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, tcpWire } from "./support/rfb.ts";
import { startService, until, type Service } from "./support/service.ts";

const distribution = sampleDistribution();
let server: Awaited<ReturnType<typeof serveDistribution>>;

beforeAll(async () => void (server = await serveDistribution(distribution)));
afterAll(() => server[Symbol.dispose]());

/** Builds Tiny Linux as that type, and unpacks what people download. */
async function downloadOf(
  imageType: ImageType,
  use: (downloaded: Downloaded, packed: PackedImage) => void | Promise<void>,
): Promise<void> {
  await using state = await temporaryDir();
  const input = await resolvedTiny(distribution, { imageType });
  await buildHere(input, { stateDir: state.path, url: server.url }, async (built, workDir) => {
    const name = input.imageName;
    const packed = await packImage(built, name, { workDir, signal: new AbortController().signal });
    expect(execFileSync("sha256sum", [packed.path]).toString()).toContain(packed.digests.sha256);
    expect(packed.fileName).toBe(`${name}${packed.compressed ? ".tar.gz" : ".iso"}`);
    await use(unpacked(packed.path, { name, rawSize: built.rawSize }), packed);
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
  const { host, port, password } = testdrive.server.vnc;
  // Without a viewer a session is over after a minute.
  const viewer = await openViewer(await tcpWire(host, Number(port)), password);
  const file = join(service.stateDir, "agent", "testdrives", testdrive.id, "serial.log");
  const printed = await until("the serial console asks for a login", 300, () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    return login.test(text) ? text : undefined;
  });
  viewer.close();
  return printed;
}

describe("vmx", () => {
  it("is a VMDK that boots at IDE, and the machine around it", async () => {
    await downloadOf("vmx", async (downloaded) => {
      expectShape("vmx", downloaded);
      expect(await serialOfVmdk(downloaded)).toMatch(login);
    });
  });
});

describe("xen", () => {
  it("is a disk with BIOS boot code, and xl's configuration beside it", async () => {
    await downloadOf("xen", (downloaded) => expectShape("xen", downloaded));
  });
});

describe("ec2", () => {
  it("is a disk with BIOS boot code and nothing beside it", async () => {
    await downloadOf("ec2", (downloaded) => expectShape("ec2", downloaded));
  });
});

describe("net", () => {
  it("is a tree whose kernel fetches its root over HTTP as its own PXE configuration says", async () => {
    await downloadOf("net", async (downloaded, packed) => {
      expectShape("net", downloaded);
      expect(packed.bootable).toBeUndefined();
      expect(await serialOfNetworkTree(downloaded)).toMatch(login);
    });
  });
});

describe("oemiso", () => {
  it("is a medium that writes the appliance to a testdrive's blank disk, which then boots by itself", async () => {
    await downloadOf("oemiso", async (downloaded, packed) => {
      expectShape("oemiso", downloaded);
      expect(packed.bootable).toEqual({ path: packed.path, format: "iso" });
      const printed = await serialOfInstallation(downloaded);
      expect(printed).toContain("INSTALL-DONE");
      expect(printed).toMatch(login);
    });
  });
});
