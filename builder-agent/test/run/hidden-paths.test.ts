import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hidingPaths } from "../../src/run/hidden-paths.ts";

const workDir = "/var/lib/kiln-agent/work/build-7-1";
const shown = hidingPaths({ workDir, stateDir: "/var/lib/kiln-agent" });

describe("the lines of KIWI that an owner reads", () => {
  it.each([
    [`[mkdir -p ${workDir}/root/var/cache]`, "[mkdir -p /var/cache]"],
    [`Path ${workDir}/root not a mountpoint`, "Path / not a mountpoint"],
    [`[rmdir ${workDir}/root/var/lib/kiln-agent/work]`, "[rmdir work]"],
    [`[tar -cf ${workDir}/target/Kiosk.tar]`, "[tar -cf target/Kiosk.tar]"],
    ["'/var/lib/kiln-agent/prepared/1.tar.zst'", "'prepared/1.tar.zst'"],
    ["file:///var/lib/kiln-agent/work/build-7-1/packages", "file://packages"],
    ["chroot /build/root /bin/true", "chroot / /bin/true"],
  ])("name no folder of the builder: %s", (line, expected) => {
    expect(shown(line)).toBe(expected);
  });

  it("do not name the folders above the agent's", () => {
    const deep = hidingPaths({ workDir: "/srv/ada/kiln/agent/work/build-1-1", stateDir: "/srv/ada/kiln/agent" });
    expect(deep("[rmdir /srv/ada/kiln/agent/work/build-1-1/root/srv/ada]")).toBe("[rmdir /]");
    expect(deep("[ls /srv/ada/kiln/agent/work/build-1-1/root/srv/ada/x]")).toBe("[ls /srv/ada/x]");
  });

  it.each(["/srv/build/root/x", "/build/rootfs", "/var/lib/kiln-agent2/x", "/root/.ssh"])(
    "keep other paths: %s",
    (line) => {
      expect(shown(line)).toBe(line);
    },
  );

  it.each(["prepare", "create-oem", "create-iso", "prepare-broken-dep"])(
    "of the recorded log %s have no such folder",
    (name) => {
      const log = readFileSync(new URL(`../fixtures/${name}.log`, import.meta.url), "utf8");
      expect(log).toContain("/var/lib/kiln-agent");
      expect(log.split("\n").map(shown).join("\n")).not.toContain("/var/lib/kiln-agent");
    },
  );

  // In quadratic time this would take hours. Scripts of an image can write such lines.
  it("are read in linear time", () => {
    for (const path of [`${workDir}/root`, `${workDir}/root `, workDir]) {
      const line = path.repeat(200_000);
      expect(shown(line).length).toBeLessThan(line.length);
    }
  });
});
