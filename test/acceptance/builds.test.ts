import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { newPerson, type Person } from "./support/person.ts";
import { loginPrompt, startSession } from "./support/session.ts";
import { until } from "./support/service.ts";
import { sharedService } from "./support/shared-service.ts";

// Unusual builds: another architecture, a cancelled build, and one that cannot start.

let tux: Person;
beforeAll(async () => {
  tux = await newPerson(await sharedService("with-agent"), "builds");
});

const cloned = async (params: { arch?: string } = {}) =>
  (await tux.rest.call("POST", "/appliances", { clone_from: 1, ...params })).appliance;

const startBuild = async (applianceId: string): Promise<string> =>
  (await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem" })).build.id;

describe("a clone without an architecture", () => {
  it("is for i586, resolves, builds and boots", async () => {
    const appliance = await cloned();
    expect(appliance.arch).toBe("i586");
    const buildId = await startBuild(appliance.id);
    expect((await tux.rest.watchBuild(buildId, 300)).at(-1)?.state).toBe("finished");
    const installed = `/appliances/${appliance.id}/software/installed`;
    const { software_map: map } = await tux.rest.call("GET", installed, { build_id: buildId });
    const packages = [map.repository].flat().flatMap(({ software }) => software.package);
    expect(new Set(packages.map((one) => one["@arch"]))).toEqual(new Set(["i586", "noarch"]));
    // A machine with a network gets no snapshot, so the agent does not boot it again for one.
    const session = await startSession(tux, { build_id: buildId, network: "on" });
    expect(session.serial()).toMatch(loginPrompt);
    expect(session.serial()).toContain("-686 "); // Debian's name for its 32-bit kernel
    await session.stop();
  });
});

/** The work directories of a build, for any attempt. Builds of other test files have theirs in the same folder. */
const workDirs = (buildId: string) =>
  readdirSync(join(tux.stateDir, "agent", "work")).filter((name) => name.startsWith(`build-${buildId}-`));

const loopFiles = () => execFileSync("losetup", ["--list", "--output", "BACK-FILE"]).toString();

describe("a build in progress", () => {
  it("is cancelled within seconds and leaves nothing on the host", async () => {
    const buildId = await startBuild((await cloned({ arch: "x86_64" })).id);
    await until("KIWI is at work", 120, async () => {
      const { running_build: build } = await tux.rest.call("GET", `/running_builds/${buildId}`);
      return (
        build.state === "running" && /^(Downloading|Installing) software|^Configuring|^Creating/.test(build.message)
      );
    });
    const [workDir = ""] = workDirs(buildId);
    expect(existsSync(join(tux.stateDir, "agent", "work", workDir, "build.log"))).toBe(true);

    await tux.rest.call("DELETE", `/running_builds/${buildId}`);

    const { running_build: build } = await tux.rest.call("GET", `/running_builds/${buildId}`);
    expect(build.state).toBe("cancelled");
    await until("the work directory is gone", 60, () => workDirs(buildId).length === 0);
    for (const text of [readFileSync("/proc/self/mounts", "utf8"), loopFiles()]) expect(text).not.toContain(workDir);
  });

  it("does not start while a package does not exist, and explains it", async () => {
    const { id } = await cloned({ arch: "x86_64" });
    const params = { name: "no-such-package" };
    const { success } = await tux.rest.call("POST", `/appliances/${id}/cmd/add_package`, params);
    expect(success.details.status.state).toBe("broken");

    await expect(startBuild(id)).rejects.toThrow(/configuration_error.*no-such-package/);
  });
});
