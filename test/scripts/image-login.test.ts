/** How config.sh logs a user in at the display managers of Debian, and who has no shell. Runs on this host. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { settingsWith } from "../support/settings.ts";
import { plain } from "../kiwi/support/facts.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-login-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);
const settings = settingsWith({ swapSizeMb: 0, runlevel: 5, automaticLogin: "clerk" });

describe("GDM logs the user in", () => {
  const file = "/etc/gdm3/daemon.conf";
  it.each([
    ["as its section says", "[daemon]\\n#WaylandEnable=false\\n\\n[security]\\n"],
    ["in a section of its own", "[security]\\n"],
  ])("%s", (_what, text) => {
    const output = inImage({ settings }, `cat ${file}`, `mkdir /etc/gdm3; printf '${text}' > ${file}`);
    expect(output).toContain("[daemon]\nAutomaticLoginEnable=true\nAutomaticLogin=clerk\n");
    expect(output.match(/^\[daemon\]$/gm)).toHaveLength(1);
    expect(output).toContain("[security]\n");
  });
});

describe("SDDM", () => {
  const file = "/etc/sddm.conf.d/50-kiln.conf";
  const installed = "printf '#!/bin/sh\\n' > /usr/bin/sddm; chmod 755 /usr/bin/sddm; rm -rf /usr/share/*sessions";
  const sessions = (...paths: string[]) =>
    [installed, ...paths.map((path) => `mkdir -p $(dirname ${path}); touch ${path}`)].join("\n");

  it.each([
    ["plasma", ["/usr/share/wayland-sessions/plasma.desktop", "/usr/share/xsessions/plasmax11.desktop"]],
    ["plasma", ["/usr/share/wayland-sessions/plasmawayland.desktop", "/usr/share/xsessions/plasma.desktop"]],
    ["openbox", ["/usr/share/xsessions/openbox.desktop"]],
  ])("starts the session %s for the user (%#)", (session, paths) => {
    expect(inImage({ settings }, `cat ${file}`, sessions(...paths))).toBe(
      `[Autologin]\nUser=clerk\nSession=${session}.desktop\n`,
    );
  });

  it("has no session to start", () => {
    const output = inImage({ settings }, `cat ${dir}/image-*/said; ls ${file} 2> /dev/null || true`, sessions());
    expect(output).toContain("kiln: note: the image has no session that SDDM could start for clerk\n");
    expect(output).not.toContain(file);
  });

  it("of SUSE reads sysconfig", () => {
    const sysconfig = "mkdir /etc/sysconfig; touch /etc/sysconfig/displaymanager";
    const ask = "cat /etc/sysconfig/displaymanager; ls /etc/sddm.conf.d 2> /dev/null || true";
    const output = inImage({ settings }, ask, `${sessions("/usr/share/xsessions/plasma.desktop")}\n${sysconfig}`);
    expect(output).toBe('DISPLAYMANAGER_AUTOLOGIN="clerk"\n');
  });
});

describe("a user without a shell", () => {
  const clerk = { ...plain.users[0], name: "clerk", shell: "/etc/shell" } as (typeof plain.users)[number];
  const said = (script: string) => {
    const scripts = { ...plain.scripts, build: { enabled: script !== "", script } };
    const image = { users: [...plain.users, clerk], scripts };
    return inImage(image, `grep shell $(ls -t ${dir}/image-*/said | head -n 1) || true`);
  };

  it("is reported", () => {
    expect(said("")).toBe("kiln: note: the image has no program /etc/shell, the shell of clerk, who cannot log in\n");
  });

  it("is not if the build script adds the shell", () => {
    expect(said("install -m 755 /bin/sh /etc/shell")).toBe("");
  });
});
