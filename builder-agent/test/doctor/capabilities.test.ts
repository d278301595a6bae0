import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Capabilities, imageTypes } from "../../src/contract.ts";
import { getCapabilities } from "../../src/doctor/capabilities.ts";
import { checkLoopDevice } from "../../src/doctor/loop-device.ts";
import { temporaryDir } from "../support/agent-place.ts";

const configOf = (stateDir: string) =>
  ({ stateDir, isolation: "none", accel: "tcg", vnc: null, minFreeGb: 0, root: "host", emulation: "off" }) as const;

describe("getCapabilities", () => {
  it("finds builds and testdrives on a host that runs these tests", async () => {
    await using dir = await temporaryDir();
    const { capabilities, report } = await getCapabilities(configOf(join(dir.path, "state")));
    expect(report.filter(({ state }) => state === "missing")).toEqual([]);
    const { noLvm, noEfi, ...others } = Capabilities.parse(capabilities);
    expect(noLvm === undefined).toBe(!report.some(({ disables }) => disables.includes("LVM disks")));
    const lacks = (what: "UEFI disks" | "UEFI media") => report.some(({ disables }) => disables.includes(what));
    expect(noEfi?.oem !== undefined).toBe(lacks("UEFI disks"));
    expect(noEfi?.iso !== undefined).toBe(lacks("UEFI media"));
    expect(noEfi?.oemiso !== undefined).toBe(lacks("UEFI disks") || lacks("UEFI media"));
    expect(noEfi?.net).toBeUndefined();
    expect(others).toEqual({
      arches: ["x86_64", "i586"],
      imageTypes: [...imageTypes],
      lacking: {},
      packageTypes: ["rpm", "deb"],
      isolation: "none",
      testdrives: true,
      machines: ["x86_64", "i586", "aarch64"],
      rebuilds: true,
      builder: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });

  it("excludes only builds if the guest cannot be made", async () => {
    await using dir = await temporaryDir();
    await writeFile(join(dir.path, "guest"), "in the way of the directory");
    const { capabilities } = await getCapabilities({ ...configOf(dir.path), isolation: "vm" });
    expect(capabilities).toMatchObject({ imageTypes: [], isolation: "vm", testdrives: true });
    expect(capabilities.lacking).toMatchObject({ oem: "guest of builds", net: "guest of builds" });
    expect(capabilities.noEfi).toBeUndefined();
  });
});

describe("checkLoopDevice", () => {
  it("does everything that KIWI does with a disk, and cleans up", async () => {
    await using dir = await temporaryDir();
    expect(await checkLoopDevice(dir.path)).toMatchObject({ state: "ok" });
    expect(await readdir(join(dir.path, "doctor"))).toEqual([]);
    expect(execFileSync("losetup", ["--list"], { encoding: "utf8" })).not.toContain(dir.path);
  });
});

describe("npm run doctor", () => {
  const main = fileURLToPath(new URL("../../src/doctor/main.ts", import.meta.url));
  const doctor = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });

  it("prints its findings without colour to a pipe, and succeeds", async () => {
    await using dir = await temporaryDir();
    const { status, stdout, stderr } = doctor("--state", dir.path);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^ok {8}root {2,}yes$/m);
    expect(stdout).toContain("oem: possible");
    expect(stdout).not.toContain("\u001B");
    expect(status).toBe(0);
  });

  it("exits with 1 if something is not possible", async () => {
    await using dir = await temporaryDir();
    const agent = { url: "http://127.0.0.1:1", token: "12345678", isolation: "vm", stateDir: join(dir.path, "a") };
    await mkdir(agent.stateDir);
    await writeFile(join(agent.stateDir, "guest"), "in the way of the directory");
    await writeFile(join(dir.path, "agent.json"), JSON.stringify(agent));
    const { status, stdout } = doctor("--state", dir.path);
    expect(stdout).toContain("oem: not possible");
    expect(status).toBe(1);
  });

  it("explains what is wrong with a configuration", async () => {
    await using dir = await temporaryDir();
    await writeFile(join(dir.path, "agent.json"), "{}");
    const { status, stderr } = doctor("--state", dir.path);
    expect(stderr).toContain("stateDir");
    expect(status).toBe(2);
  });
});
