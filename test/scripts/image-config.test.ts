/** Runs an image's config.sh here, in a separate mount namespace with an empty /etc. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configScript } from "#lib/kiwi/config-script";
import { bareSystem } from "./support/bare-system.ts";

const { dir, fileOf, inBareSystem } = bareSystem();

/** Runs config.sh with these commands, in a system with these accounts. */
function configured(commands: string[], before = ""): { output: string; status: number } {
  const script = fileOf(
    "config.sh",
    configScript([...commands, "exit 0"]).replaceAll("/image/kiln", join(dir, "image")),
  );
  const accounts = String.raw`printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' > /etc/passwd
    printf 'root:x:0:\nnogroup:x:65534:\n' > /etc/group; mkdir -p ${dir}/image`;
  return inBareSystem(`${accounts}\n${before}\n${script}`);
}

const source = fileOf("content", "content\n");
const place = (path: string, mode: string, owner: string, group: string) =>
  `place ${source} '${path}' ${mode} ${owner} ${group}; stat -c '%n %a %u:%g %s' '${path}'`;

describe("config.sh", () => {
  it("puts files in place, with folders, owners and all mode bits", () => {
    const { output, status } = configured([
      place("/etc/a b/$(x)/it is", "4755", "root", "root"),
      place("/etc/nobodys", "0600", "nobody", "nobody"),
      place("/etc/numbers", "0644", "1234", "99"),
    ]);
    expect([output, status]).toEqual([
      "/etc/a b/$(x)/it is 4755 0:0 8\n/etc/nobodys 600 65534:65534 8\n/etc/numbers 644 1234:99 8\n",
      0,
    ]);
  });

  it("gives new folders below the owner's home to the owner", () => {
    const { output, status } = configured(
      [
        "mkdir -p /etc/home/clerk",
        `${place("/etc/home/clerk/.ssh/deep/key", "0600", "clerk", "users")}; stat -c '%n %u:%g' /etc/home/clerk /etc/home/clerk/.ssh /etc/home/clerk/.ssh/deep`,
        `${place("/etc/home/clerk/roots/x", "0644", "root", "root")}; stat -c '%n %u:%g' /etc/home/clerk/roots`,
        `${place("/etc/home/other/x", "0644", "clerk", "users")}; stat -c '%n %u:%g' /etc/home/other`,
      ],
      "echo 'clerk:x:1234:100::/etc/home/clerk:/bin/sh' >> /etc/passwd; echo users:x:100: >> /etc/group",
    );
    expect([output.split("\n"), status]).toEqual([
      [
        "/etc/home/clerk/.ssh/deep/key 600 1234:100 8",
        "/etc/home/clerk 0:0",
        "/etc/home/clerk/.ssh 1234:100",
        "/etc/home/clerk/.ssh/deep 1234:100",
        "/etc/home/clerk/roots/x 644 0:0 8",
        "/etc/home/clerk/roots 0:0",
        "/etc/home/other/x 644 1234:100 8",
        "/etc/home/other 0:0",
        "",
      ],
      0,
    ]);
  });

  it("replaces a link, not the file it points to", () => {
    const { output } = configured(
      [place("/etc/link", "0644", "root", "root"), "cat /etc/target"],
      "echo old > /etc/target; ln -s target /etc/link",
    );
    expect(output).toBe("/etc/link 644 0:0 8\nold\n");
  });

  it.each(["/tmp/x", "/.profile", "/.kconfig", "/.buildenv", "/var/cache/kiwi/x"])(
    "notes that %s is there only for the build script",
    (path) => {
      const { output, status } = configured([`note_if_dropped ${path}`, "note_if_dropped /etc/tmp/x"]);
      expect([output, status]).toEqual([
        `kiln: note: the file ${path} is there only during the build: no image keeps it\n`,
        0,
      ]);
    },
  );

  it("notes the same through a link", () => {
    const { output, status } = configured([`ln -s ${dir} /etc/link`, place("/etc/link/x", "0644", "root", "root")]);
    expect(output).toContain(`kiln: note: the file ${dir}/x is there only during the build`);
    expect(status).toBe(0);
  });

  it.each([
    ["an unknown owner", place("/etc/x", "0644", "carol", "root"), "belongs to the user carol, which does not exist"],
    [
      "an unknown group",
      place("/etc/x", "0644", "root", "tellers"),
      "belongs to the group tellers, which does not exist",
    ],
    ["a folder in its place", place("/etc", "0644", "root", "root"), "because the image has a folder of that name"],
    [
      "a file in its path",
      place("/etc/passwd/x", "0644", "root", "root"),
      "because a part of its path is not a folder",
    ],
    [
      "a directory that each boot recreates",
      place("/dev/x", "0644", "root", "root"),
      "because /dev is recreated at each boot",
    ],
    [
      "the same through a link",
      `ln -s /proc /etc/link; ${place("/etc/link/x", "0644", "root", "root")}`,
      "is recreated",
    ],
    ["an unknown port", "open_port odd-service tcp ''", "The firewall cannot open odd-service"],
    [
      "anything else that fails",
      "false",
      'kiln: error: The image could not be configured: "false" ended with exit code 1.',
    ],
  ])("stops at %s, with a clear error", (_, command, words) => {
    const { output, status } = configured([command, "echo went on"]);
    expect(output).toContain(words);
    expect(output.match(/kiln: error/g)).toHaveLength(1);
    expect(output).not.toContain("went on");
    expect(status).toBe(1);
  });

  it("opens ports in nft's syntax", () => {
    const commands = ["open_port ssh tcp 22", "open_port 53 udp 53", "open_port odd tcp ''", "write_filter"];
    const { output } = configured(commands, "echo 'odd 4711/tcp' > /etc/services");
    expect(output).toMatch(
      /policy drop;[^]*tcp dport 22 accept\n {4}udp dport 53 accept\n {4}tcp dport 4711 accept\n {2}\}\n\}\n$/,
    );
  });

  it("sets SuSEfirewall2's ports and sysconfig's variables once", () => {
    const file = "/etc/sysconfig/SuSEfirewall2";
    const commands = [
      "open_port ssh tcp 22",
      "open_port http tcp 80",
      "open_port 53 udp 53",
      "ports_of tcp",
      "echo",
      "ports_of udp",
    ];
    const set = `set_sysconfig ${file} FW_SERVICES_EXT_TCP '22 80'`;
    const { output } = configured(
      [...commands, set, set, `cat ${file}`],
      `mkdir /etc/sysconfig; printf 'FW_SERVICES_EXT_TCP=""\nX=1\n' > ${file}`,
    );
    expect(output).toBe('22 80 \n53 X=1\nFW_SERVICES_EXT_TCP="22 80"\n');
  });

  it("sets the hostname, in the image's own hosts file too", () => {
    const { output } = configured(
      ["set_hostname kiosk.example.org 192.0.2.10", "cat /etc/hostname /etc/hosts; ls /etc/hosts*"],
      "echo host-of-the-builder > /etc/hosts.kiwi; ln -s hosts.kiwi /etc/hosts; echo '127.0.0.1 localhost' > /etc/hosts.rpmnew",
    );
    expect(output).toBe(
      "kiosk.example.org\n127.0.0.1 localhost\n192.0.2.10 kiosk.example.org kiosk\n/etc/hosts\n/etc/hosts.kiwi\n",
    );
  });

  it("sets the hostname of a machine whose address is not known yet", () => {
    const { output } = configured(["set_hostname webshop", "cat /etc/hostname /etc/hosts"], ": > /etc/hosts");
    expect(output).toBe("webshop\n127.0.1.1 webshop\n");
  });

  it("logs a user in where LightDM shows the login", () => {
    const { output } = configured(
      ["set_automatic_login clerk > /dev/null", "cat /etc/lightdm/lightdm.conf.d/50-kiln.conf"],
      "mkdir -p /etc/lightdm",
    );
    expect(output).toBe("[Seat:*]\nautologin-user=clerk\n");
  });

  it("changes the runlevel and the login in inittabs", () => {
    const inittab = String.raw`printf 'id:5:initdefault:\ntty1::respawn:/sbin/getty 38400 tty1 linux\n' > /etc/inittab`;
    const original = fileOf("autologin", "#!/bin/sh\n");
    const { output } = configured(
      ["set_runlevel 3 multi-user.target", "set_automatic_login clerk", "cat /etc/inittab"],
      `${inittab}; cp ${original} ${dir}/image/autologin; mkdir -p /usr/lib/kiln`,
    );
    expect(output).toBe(
      "id:3:initdefault:\ntty1::respawn:/sbin/getty -n -l /usr/lib/kiln/autologin 38400 tty1 linux\n",
    );
    expect(readFileSync(original, "utf8")).toBe("#!/bin/sh\n");
  });
});
