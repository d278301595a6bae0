import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { closureOf, installedPackages } from "../../src/guest/host-packages.ts";
import { rootFiles } from "../../src/guest/root-files.ts";

const status = `Package: kiwi
Status: install ok installed
Architecture: all
Version: 9.24.56-1
Depends: python3 (>= 3.9), rpm | yum:any, mail-transport-agent
Conffiles:
 /etc/kiwi.yml 0123456789abcdef0123456789abcdef
 /etc/kiwi.old fedcba9876543210fedcba9876543210 obsolete

Package: python3
Status: install ok installed
Architecture: amd64
Version: 3.11
Pre-Depends: libc6

Package: yum
Status: deinstall ok config-files
Architecture: all
Version: 4

Package: rpm
Status: install ok installed
Architecture: amd64
Version: 4.18

Package: exim
Status: install ok installed
Architecture: amd64
Version: 4.96
Provides: mail-transport-agent (= 1)

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36

Package: base-files
Essential: yes
Status: install ok installed
Architecture: amd64
Version: 12

Package: games
Status: install ok installed
Architecture: all
Version: 1
`;

describe("the builder root", () => {
  it("contains the wanted packages, their dependencies and the essential ones", () => {
    const { packages, missing } = closureOf(["kiwi", "zypper"], installedPackages(status));
    expect(packages.map(({ name }) => name)).toEqual(["base-files", "exim", "kiwi", "libc6", "python3", "rpm"]);
    expect(missing).toEqual(["zypper"]);
    expect(packages.find(({ name }) => name === "kiwi")?.conffiles.size).toBe(2);
  });

  it("contains packaged files, without the host's accounts, keys or changes", () => {
    const { packages } = closureOf(["kiwi", "zypper", "tar", "mawk"], installedPackages());
    const files = new Set(rootFiles(packages));
    expect([...files].filter((path) => /^\/(?:home|root|srv|var|opt|boot|tmp)\//.test(path))).toEqual([]);
    for (const path of ["/etc/shadow", "/etc/passwd", "/etc/machine-id", "/etc/resolv.conf"]) {
      expect(files.has(path), path).toBe(false);
    }
    expect(files.has("/usr/bin/tar")).toBe(true);
    expect([...files].some((path) => /zypp\/credentials/.test(path))).toBe(false);
    // Belongs to no package: a link that update-alternatives has made.
    expect(files.has("/usr/bin/awk")).toBe(true);
    expect(files.has("/etc/alternatives/awk")).toBe(true);
    // Python's byte code also belongs to no package.
    expect([...files].some((path) => /kiwi\/__pycache__\/.*\.pyc$/.test(path))).toBe(true);
  });

  it("omits a configuration file that was changed", () => {
    const [one] = [...installedPackages().values()].filter(({ conffiles }) => conffiles.has("/etc/bash.bashrc"));
    const conffiles = new Map([["/etc/bash.bashrc", "0".repeat(32)]]);
    const md5 = execFileSync("md5sum", ["/etc/bash.bashrc"], { encoding: "utf8" }).slice(0, 32);
    if (!one) throw new Error("bash is not installed");
    expect(rootFiles([{ ...one, conffiles }])).not.toContain("/etc/bash.bashrc");
    expect(rootFiles([{ ...one, conffiles: new Map([["/etc/bash.bashrc", md5]]) }])).toContain("/etc/bash.bashrc");
  });
});
