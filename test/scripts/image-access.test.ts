/** Keys and administrators of an image. Its config.sh runs here in a separate mount namespace. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plain } from "../kiwi/support/facts.ts";
import { sshKeys } from "../support/ssh-keys.ts";
import { unpackPackages } from "./debian-packages.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-access-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const image = imagesIn(dir);

const clerk = {
  name: "clerk",
  passwordHash: "*",
  homedir: "/var/clerk",
  shell: "/bin/sh",
  group: "users",
  uid: 1234,
  sshKeys: [sshKeys.ed25519, sshKeys.ecdsa],
  administrator: true,
};
const users = [...plain.users, clerk];
const sudo = "printf '#!/bin/sh\n' > /usr/bin/sudo; chmod 755 /usr/bin/sudo; ";

const chosen = (sshPasswords: string) => ({ settings: { ...plain.settings, sshPasswords } });
/** The configuration that sshd reports. */
const accepts = (passwords: string, root = "without-password") =>
  `kbdinteractiveauthentication ${passwords}\npasswordauthentication ${passwords}\npermitrootlogin ${root}\n`;

describe("config.sh", () => {
  it("gives SSH keys to their user alone", () => {
    const ask = "cd /var/clerk; stat -c '%n %a %u:%g' .ssh .ssh/*; cat .ssh/authorized_keys";
    expect(image({ users }, ask, "mkdir /var/clerk").split("\n")).toEqual([
      ".ssh 700 1234:100",
      ".ssh/authorized_keys 600 1234:100",
      ...clerk.sshKeys,
      "",
    ]);
  });

  it("lets administrators use sudo, and adds them to the group that others look for", () => {
    const ask = "cd /etc/sudoers.d; stat -c '%n %a %u:%g' *; cat *; grep clerk /etc/group";
    const said = image({ users }, ask, `${sudo} echo sudo:x:27: >> /etc/group`);
    expect(said.split("\n")).toEqual([
      "kiln-administrators 440 0:0",
      "Defaults:clerk !targetpw",
      "clerk ALL=(ALL:ALL) NOPASSWD: ALL",
      "sudo:x:27:clerk",
      "",
    ]);
    const withPassword = [{ ...clerk, passwordHash: "$6$salt$hash" }];
    expect(image({ users: withPassword }, "cat /etc/sudoers.d/*", sudo)).toContain("clerk ALL=(ALL:ALL) ALL\n");
  });

  it("goes on without the group if the image's usermod cannot add to it, as that of Tiny Linux", () => {
    const poor = "printf '#!/bin/sh\nexit 2\n' > /usr/sbin/usermod; echo wheel:x:10: >> /etc/group; ";
    expect(image({ users }, "ls /etc/sudoers.d; grep wheel /etc/group", poor + sudo)).toBe(
      "kiln-administrators\nwheel:x:10:\n",
    );
  });

  it("reports that an image has no sudo, and does not add rules that nothing reads", () => {
    const ask = "ls -A /etc/sudoers.d 2> /dev/null || true";
    expect(image({ users }, ask, "rm -f /usr/bin/sudo")).toBe("");
  });

  describe("with an OpenSSH server", () => {
    const packages = join(dir, "packages");
    beforeAll(() => unpackPackages(["openssh-client", "openssh-server", "libssl3", "libwrap0"], packages), 600_000);
    const inImage = imagesIn(dir, packages);

    // The package's own script does this in a real image.
    const installed = "mkdir -p /run/sshd /etc/ssh; cp /usr/share/openssh/sshd_config /etc/ssh";
    const ready = `${installed}; echo sshd:x:105:65534::/run/sshd:/bin/false >> /etc/passwd; mkdir /var/clerk`;
    const ask =
      "ssh-keygen -A > /dev/null; sshd -T | grep -E '^(passwordauth|kbdinteractiveauth|permitrootlogin)' | sort";

    it("ends passwords over SSH when a user has a key", () => {
      expect(inImage({ users }, ask, ready)).toBe(accepts("no"));
    });

    it("leaves the server as it is without a key or a choice", () => {
      expect(inImage({}, ask, ready)).toContain("passwordauthentication yes\n");
    });

    it("does what is chosen, with the password of root too", () => {
      expect(inImage(chosen("never"), ask, ready)).toBe(accepts("no"));
      expect(inImage({ ...chosen("always"), users }, ask, ready)).toBe(accepts("yes", "yes"));
    });

    it("also does it where the server's configuration does not include its folder", () => {
      const old = `${ready}; echo PasswordAuthentication yes > /etc/ssh/sshd_config`;
      expect(inImage(chosen("never"), ask, old)).toBe(accepts("no"));
    });
  });
});
