import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, type Service } from "./support/service.ts";

// The whole service with its agent: one version of an appliance in several formats, as the specification's recipe says.

let service: Service;
let tux: RestClient;
beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
});
afterAll(() => service.stop());

const post = async (params: Record<string, string | number>): Promise<string> =>
  (await tux.call("POST", "/running_builds", params)).build.id;

async function finished(buildId: string): Promise<void> {
  const last = (await tux.watchBuild(buildId, 400)).at(-1);
  expect(last, `build ${buildId}`).toMatchObject({ state: "finished" });
}

/** What the agent itself says in a build's log. */
async function wordsOf(buildId: string): Promise<string[]> {
  const log = await tux.file(`/running_builds/${buildId}/log`);
  return [...log.matchAll(/\| Kiln: (.*)/g)].map(([, words = ""]) => words);
}

interface ListedPackage {
  name: string;
  version: string;
  release: string;
}

/** What rpm has found in the image, by name. */
async function installedIn(applianceId: string, buildId: string): Promise<string[]> {
  const { software_map: map } = await tux.call("GET", `/appliances/${applianceId}/software/installed`, {
    build_id: buildId,
  });
  const repositories = [map.repository ?? map.repositories?.repository].flat();
  const packages: ListedPackage[] = repositories.flatMap((each) => [each.software.package ?? []].flat());
  return packages.map(({ name, version, release }) => `${name}-${version}-${release}`).toSorted();
}

describe("several formats of one version", () => {
  it("are made from one prepared root, where they need the same", async () => {
    const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
    const applianceId = appliance.id;
    // What a medium needs beside a disk's packages; without them its root is another.
    for (const name of ["syslinux", "dracut-kiwi-live"]) {
      await tux.call("POST", `/appliances/${applianceId}/cmd/add_package`, { name });
    }
    const multi = { appliance_id: applianceId, multi: "true" };
    const first = await post({ appliance_id: applianceId, image_type: "oem" });
    await expect(post({ ...multi, image_type: "vmx" })).rejects.toThrow("initial_build_pending");
    await finished(first);

    const [vmx, iso] = [await post({ ...multi, image_type: "vmx" }), await post({ ...multi, image_type: "iso" })];
    await Promise.all([finished(vmx), finished(iso)]);

    expect(await wordsOf(first)).toContain("Installing software");
    expect(await wordsOf(vmx)).toContain("the disk is the one of an earlier format of this version");
    expect(await wordsOf(iso)).toContain("the image is made from a root that was prepared before");
    for (const other of [vmx, iso]) expect(await wordsOf(other)).not.toContain("Installing software");
    const { builds } = await tux.call("GET", "/builds", { appliance_id: applianceId });
    expect(builds.build.map(({ version }: { version: string }) => version)).toEqual(["0.0.1", "0.0.1", "0.0.1"]);
    const installed = await installedIn(applianceId, first);
    expect(installed.length).toBeGreaterThan(10);
    expect(await installedIn(applianceId, vmx)).toEqual(installed);
    expect(await installedIn(applianceId, iso)).toEqual(installed);
    expect(readdirSync(join(service.stateDir, "agent/prepared/roots"))).toHaveLength(1);
  });
});
