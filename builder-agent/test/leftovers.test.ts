import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mountsBelow } from "../src/leftovers.ts";
import { clearWorkDirs, openWorkDir } from "../src/work-dir.ts";
import { eventually, silent, temporaryDir } from "./support/agent-place.ts";

const sh = (script: string) => execFileSync("sh", ["-ec", script], { encoding: "utf8" }).trim();

// These tests leave real mounts and devices behind, like a killed KIWI. They need root, as the agent does.
describe("clearWorkDirs", () => {
  it("unmounts everything before it deletes anything", async () => {
    await using state = await temporaryDir();
    const root = join(state.path, "work", "build-1-1", "a b", "root");
    mkdirSync(join(root, "dev"), { recursive: true });
    sh(`mount --bind "${root}" "${root}"; mount --bind /dev "${root}/dev"; mount -t tmpfs none "${root}/dev/shm"`);
    expect(await mountsBelow(state.path)).toHaveLength(3);

    expect(await clearWorkDirs(state.path, silent)).toBe(1);

    expect(await mountsBelow(state.path)).toEqual([]);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
    expect(existsSync("/dev/null")).toBe(true);
  });

  it("detaches loop devices of its files, with their partitions", async () => {
    await using state = await temporaryDir();
    const dir = join(state.path, "work", "build-1-1");
    mkdirSync(dir, { recursive: true });
    const disk = join(dir, "disk.raw");
    const device = sh(
      `truncate -s 16M "${disk}"; echo 'label: dos\n2048,,83' | sfdisk -q "${disk}" >&2; losetup --find --show --partscan "${disk}"`,
    );
    sh(`partx --add ${device} 2>/dev/null || true`);
    const inSys = `/sys/block/${device.slice(5)}`;
    const hasPartition = () => existsSync(`${inSys}/${device.slice(5)}p1`);
    expect(hasPartition()).toBe(true);

    await clearWorkDirs(state.path, silent);

    expect(sh("losetup --list --noheadings --output BACK-FILE")).not.toContain(state.path);
    // Another program that is looking for a free device may use this one, with a partition.
    expect(hasPartition() && !existsSync(`${inSys}/loop`)).toBe(false);
  });

  it("ends processes that work there", async () => {
    await using state = await temporaryDir();
    const dir = join(state.path, "work", "build-1-1");
    mkdirSync(dir, { recursive: true });
    const child = spawn("sleep", ["987"], { cwd: dir, detached: true, stdio: "ignore" });
    let isGone = false;
    child.on("exit", () => (isGone = true));

    await clearWorkDirs(state.path, silent);

    await eventually("the process is gone", () => isGone);
  });

  it("keeps the neighbours of the work directories", async () => {
    await using state = await temporaryDir();
    mkdirSync(join(state.path, "cache"));
    mkdirSync(join(state.path, "work-of-mine"));

    await clearWorkDirs(state.path, silent);

    expect(readdirSync(state.path).toSorted()).toEqual(["cache", "work", "work-of-mine"]);
  });
});

describe("a work directory", () => {
  it("is not deleted while it has a mount that cannot be unmounted", async () => {
    await using state = await temporaryDir();
    const path = await (async () => {
      const dir = await openWorkDir(state.path, "build-1-1", silent);
      writeFileSync(join(dir.path, "precious"), "");
      return dir.path;
    })();
    // umount reports "not mounted" for a mount in another namespace. Here it represents a mount that cannot be
    // unmounted.
    const tools = join(state.path, "tools");
    mkdirSync(tools);
    writeFileSync(join(tools, "umount"), "#!/bin/sh\nexit 32\n", { mode: 0o755 });
    sh(`mount --bind "${path}" "${path}"`);
    const oldPath = process.env["PATH"];
    process.env["PATH"] = `${tools}:${oldPath}`;
    try {
      await expect(openWorkDir(state.path, "build-1-1", silent)).rejects.toThrow(
        /was not removed, because something is mounted/,
      );
    } finally {
      process.env["PATH"] = oldPath;
      sh(`umount "${path}"`);
    }
    expect(existsSync(join(path, "precious"))).toBe(true);
  });
});
