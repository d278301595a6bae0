import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { modifiedDir } from "../../src/modified/ended-disks.ts";
import { makeSeed } from "../../src/testdrive/seed.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { startSession } from "./session.ts";

const { signal } = new AbortController();

/** The files of the disk by name, as a system would read them. */
function filesOf(disk: string, into: string): Record<string, string> {
  execFileSync("xorriso", ["-osirrox", "on", "-indev", disk, "-extract", "/", into], { stdio: "ignore" });
  return Object.fromEntries(readdirSync(into).map((name) => [name, readFileSync(join(into, name), "utf8")]));
}

/** The volume name has a fixed position on an ISO 9660 disk. */
const volumeOf = (disk: string) => readFileSync(disk).subarray(0x8028, 0x8048).toString().trim();

describe("makeSeed", () => {
  it("writes a disk on which cloud-init finds the texts, and leaves no other file", async () => {
    await using place = await temporaryDir();
    await using dir = await makeSessionDir(place.path, 8);
    const userData = "#cloud-config\nhostname: ünï\n";
    const args = await makeSeed({ userData, networkConfig: "version: 2\n" }, dir, signal);

    expect(readdirSync(dir.path)).toEqual(["seed.iso"]);
    expect(statSync(dir.file("seed.iso")).mode & 0o777).toBe(0o600);
    expect(volumeOf(dir.file("seed.iso"))).toBe("CIDATA");
    expect(filesOf(dir.file("seed.iso"), join(place.path, "out"))).toEqual({
      "user-data": userData,
      "meta-data": "instance-id: testdrive-8\n",
      "network-config": "version: 2\n",
    });
    expect(args.join(" ")).toContain('"read-only":true');
  });

  it("keeps the machine's own meta data", async () => {
    await using place = await temporaryDir();
    await using dir = await makeSessionDir(place.path, 8);
    await makeSeed({ metaData: "instance-id: mine\n" }, dir, signal);
    expect(filesOf(dir.file("seed.iso"), join(place.path, "out"))).toEqual({
      "user-data": "",
      "meta-data": "instance-id: mine\n",
    });
  });
});

describe("makeSeed for Ignition", () => {
  it("gives the configuration to QEMU's firmware interface, and makes no disk", async () => {
    await using place = await temporaryDir();
    await using dir = await makeSessionDir(place.path, 8);
    const userData = ' {"ignition":{"version":"3.3.0"}}';
    const args = await makeSeed({ userData }, dir, signal);

    expect(args).toEqual(["-fw_cfg", "name=opt/com.coreos/config,file=config.ign"]);
    expect(readdirSync(dir.path)).toEqual(["config.ign"]);
    expect(readFileSync(dir.file("config.ign"), "utf8")).toBe(userData);
    expect(statSync(dir.file("config.ign")).mode & 0o777).toBe(0o600);
  });
});

describe("a testdrive with a seed", () => {
  it("has a second disk and room to grow, and leaves neither after its end", async () => {
    await using session = await startSession({
      keptMinutes: 10,
      change: (claim) => ({ ...claim, seed: { userData: "#!/bin/sh\n" } }),
    });
    await session.ready();
    expect(volumeOf(join(session.path, "seed.iso"))).toBe("CIDATA");
    const info = execFileSync("qemu-img", ["info", "-U", "--output=json", join(session.path, "overlay.qcow2")]);
    expect(JSON.parse(String(info))["virtual-size"]).toBe(1024 ** 3 + 1024 ** 2);
    session.service.order({ type: "stop", reason: "Enough." });
    await session.ended;
    expect(existsSync(session.path)).toBe(false);
    expect(existsSync(modifiedDir(session.stateDir))).toBe(false);
  });

  it("starts with a configuration for Ignition, and leaves nothing after its end", async () => {
    await using session = await startSession({
      change: (claim) => ({ ...claim, seed: { userData: '{"ignition":{"version":"3.3.0"}}' } }),
    });
    await session.ready();
    session.service.order({ type: "stop", reason: "Enough." });
    await session.ended;
    expect(existsSync(session.path)).toBe(false);
  });
});
