import { describe, expect, it } from "vitest";
import { levelOf, phaseIn, toneOf, wordsOf } from "#domain/builds/log-lines";

const at = "[ WARNING ]: 14:24:45 | ";

describe("a line of a build's log", () => {
  // Recorded from successful builds of Tiny Linux and Debian.
  it.each([
    "Path / not a mountpoint",
    "remove_hierarchy: path /tmp is protected",
    "chkstat not found in image. File Permissions Check skipped",
    "Could not detect dracut output file format",
    "Using default initrd file name format initramfs-{kernel_version}.img",
    "Could not parse systemd-firstboot output",
    "No explicit root= cmdline provided",
    "debootstrap will only be called once, skipped",
  ])("is no finding if KIWI warns of its own work: %s", (text) => {
    expect(toneOf(at + text)).toBeUndefined();
  });

  it.each([
    ["warn", `${at}keyboard setup skipped no capable systemd-firstboot or etc/sysconfig/keyboard found`],
    ["warn", "[ DEBUG   ]: 04:55:02 | kiln: note: the image has no time zones (tzdata): its clock shows UTC"],
    ["warn", `${at}kiln: note: All machines of this image have the same private key: /etc/ejabberd/ejabberd.pem`],
    ["warn", "warning: /etc/nginx/nginx.conf created as /etc/nginx/nginx.conf.rpmnew"],
    ["bad", "[ ERROR   ]: 14:08:26 | KiwiScriptFailed: config.sh failed: chkstat not found in image"],
    ["bad", "error: Failed dependencies:"],
  ] as const)("is a finding (%s) if it concerns the appliance: %s", (tone, line) => {
    expect(toneOf(line)).toBe(tone);
  });

  it("is shown without its level and time", () => {
    expect(wordsOf("[ DEBUG   ]: 04:55:02 | kiln: note: no firewall")).toBe("no firewall");
    expect(wordsOf("error: Failed dependencies:")).toBe("error: Failed dependencies:");
  });

  it("has a level, or continues a record, and may begin a phase", () => {
    expect(levelOf("[ DEBUG   ]: 14:24:39 | EXEC: [true]")).toBe("DEBUG");
    expect(levelOf("  File x")).toBeUndefined();
    expect(phaseIn("[ INFO    ]: 04:24:33 | Kiln: Installing software")).toBe("Installing software");
    expect(phaseIn("[ INFO    ]: 04:24:33 | Kiln: x has 3 bytes")).toBeUndefined();
  });
});
