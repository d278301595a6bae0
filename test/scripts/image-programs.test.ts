/** Programs that images contain, run here in a separate mount namespace with an empty /etc. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { configScript } from "#kiwi/config-script";
import { descriptionFiles } from "#kiwi/description-files";
import { networkScript } from "#kiwi/network-script";
import { plain } from "../kiwi/support/facts.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-programs-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Changes in /usr/lib are discarded, /etc is empty, and everything else except `dir` is read-only. */
const bareSystem = `
  mount -t tmpfs none /mnt
  mkdir /mnt/changes /mnt/work
  mount -t overlay none -o lowerdir=/usr/lib,upperdir=/mnt/changes,workdir=/mnt/work /usr/lib
  mount -t tmpfs none /usr/lib/systemd
  mount -t tmpfs none /etc
  mount --bind ${dir} ${dir}
  mount -o remount,bind,ro /
  cd /
`;

/** Runs bash commands in a system without systemd and with an empty /etc. */
function inBareSystem(commands: string, shell = "bash"): { output: string; status: number } {
  const script = `set -e\n${bareSystem}\nset +e\n${commands}\n`;
  const args = ["--mount", "--uts", "--", "bash", "-c", script.replaceAll("SHELL", shell)];
  try {
    return {
      output: execFileSync("unshare", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
      status: 0,
    };
  } catch (error) {
    const { stdout, stderr, status } = error as { stdout: string; stderr: string; status: number };
    return { output: `${stdout}${stderr}`, status };
  }
}

function fileOf(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

const network = fileOf("network", networkScript);
const manual = `SHELL ${network} manual 192.0.2.10/24 192.0.2.1 192.0.2.2 2001:db8::2`;

describe.each(["bash", "dash"])("network, run by %s,", (shell) => {
  it("writes sysconfig's files", () => {
    const { output } = inBareSystem(
      `mkdir -p /etc/sysconfig/network
       ${manual}; cat /etc/sysconfig/network/ifcfg-eth0 /etc/sysconfig/network/routes /etc/resolv.conf
       SHELL ${network} dhcp; cat /etc/sysconfig/network/ifcfg-eth0`,
      shell,
    );
    expect(output.split("\n")).toEqual([
      "STARTMODE='auto'",
      "BOOTPROTO='static'",
      "IPADDR='192.0.2.10/24'",
      "default 192.0.2.1 - -",
      "nameserver 192.0.2.2",
      "nameserver 2001:db8::2",
      "STARTMODE='auto'",
      "BOOTPROTO='dhcp'",
      "",
    ]);
  });

  it("leaves name servers to netconfig if it is installed", () => {
    const config = "/etc/sysconfig/network/config";
    const { output } = inBareSystem(
      `mkdir -p /etc/sysconfig/network; echo 'NETCONFIG_DNS_STATIC_SERVERS=""' > ${config}
       ${manual}; cat ${config}; ls /etc`,
      shell,
    );
    expect(output).toBe('NETCONFIG_DNS_STATIC_SERVERS="192.0.2.2 2001:db8::2"\nsysconfig\n');
  });

  it("writes NetworkManager's connection, readable only by root", () => {
    const file = "/etc/NetworkManager/system-connections/kiln.nmconnection";
    const { output } = inBareSystem(`mkdir /etc/NetworkManager; ${manual}; stat -c %a ${file}; cat ${file}`, shell);
    expect(output.split("\n")).toEqual([
      "600",
      "[connection]",
      "id=kiln",
      "type=ethernet",
      "autoconnect=true",
      "[ipv4]",
      "method=manual",
      "address1=192.0.2.10/24,192.0.2.1",
      "dns=192.0.2.2;",
      "[ipv6]",
      "method=auto",
      "dns=2001:db8::2;",
      "",
    ]);
  });

  it("writes ifupdown's file, with a name for every card", () => {
    const { output } = inBareSystem(
      `mkdir -p /etc/default /etc/network; touch /etc/default/networking
       ${manual}; sed 1,2d /etc/network/interfaces; cat /etc/resolv.conf; /usr/lib/kiln/wired ens3
       SHELL ${network} dhcp; tail -n 2 /etc/network/interfaces`,
      shell,
    );
    const lines = ["auto lo", "iface lo inet loopback", "", "mapping e*", "  script /usr/lib/kiln/wired"];
    const first = ["allow-hotplug /e*/1", "iface wired inet static", "  address 192.0.2.10/24", "  gateway 192.0.2.1"];
    const servers = ["nameserver 192.0.2.2", "nameserver 2001:db8::2", "wired"];
    expect(output.split("\n")).toEqual([
      ...lines,
      ...first,
      ...servers,
      "allow-hotplug /e*",
      "iface wired inet dhcp",
      "",
    ]);
  });

  it("writes systemd-networkd's files", () => {
    const { output } = inBareSystem(
      `mkdir -p /usr/lib/systemd; touch /usr/lib/systemd/systemd-networkd
       ${manual} > /dev/null 2>&1; cat /etc/systemd/network/20-kiln.network`,
      shell,
    );
    expect(output).toBe(
      "[Match]\nName=en* eth*\n\n[Network]\nAddress=192.0.2.10/24\nGateway=192.0.2.1\nDNS=192.0.2.2\nDNS=2001:db8::2\n",
    );
  });

  it("lets systemd-resolved answer with the name servers that systemd-networkd has from DHCP", () => {
    const { output } = inBareSystem(
      `touch /usr/lib/systemd/systemd-networkd /usr/lib/systemd/systemd-resolved
       touch /etc/resolv.conf.kiwi; ln -s resolv.conf.kiwi /etc/resolv.conf
       SHELL ${network} dhcp > /dev/null 2>&1; readlink /etc/resolv.conf`,
      shell,
    );
    expect(output).toBe("../run/systemd/resolve/stub-resolv.conf\n");
  });

  it("reports that nothing would use the name servers that systemd-networkd has from DHCP", () => {
    const { output } = inBareSystem(
      `touch /usr/lib/systemd/systemd-networkd; SHELL ${network} dhcp 2>&1 > /dev/null | grep kiln:`,
      shell,
    );
    expect(output).toBe("kiln: note: the image has no systemd-resolved: systemd-networkd resolves no names by DHCP\n");
  });

  it("reports that no installed program would read its files", () => {
    expect(inBareSystem(`SHELL ${network} dhcp 2>&1; ls /etc`, shell).output).toMatch(
      /^kiln: note: the image has no known network service.*\n$/,
    );
  });
});

describe.each(["bash", "dash"])("the questions about the network, asked by %s,", (shell) => {
  const files = descriptionFiles({ ...plain, network: { ...plain.network, type: "ask_on_first_boot" } });
  const program = (name: string) => fileOf(name, files[`root/usr/lib/kiln/${name}`] ?? "");
  /** Answers all questions on one console, which here is standard input. */
  const answered = (...lines: string[]) => {
    const answers = fileOf("answers", lines.map((line) => `${line}\n`).join(""));
    const questions = fileOf(
      "questions",
      readFileSync(program("ask-network"), "utf8").replace("on_consoles ask_all", "ask_all"),
    );
    return inBareSystem(
      `mkdir -p /etc/sysconfig/network /usr/lib/kiln
       cp ${program("consoles")} ${program("network")} /usr/lib/kiln/
       SHELL ${questions} < ${answers} > ${dir}/asked
       hostname; cat /etc/sysconfig/network/ifcfg-eth0 /etc/sysconfig/network/routes /etc/resolv.conf 2> /dev/null`,
      shell,
    ).output;
  };

  it("configure a fixed address", () => {
    expect(answered("box", "192.0.2.10/24", "192.0.2.1", "192.0.2.2 192.0.2.3")).toBe(
      "box\nSTARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.0.2.10/24'\ndefault 192.0.2.1 - -\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n",
    );
  });

  it("accept empty answers for DHCP and the existing name", () => {
    expect(answered("", "")).toBe(`${hostname()}\nSTARTMODE='auto'\nBOOTPROTO='dhcp'\n`);
  });

  it("are asked again after an invalid answer", () => {
    const said = answered("$(reboot)", "box", "192.0.2.10", "192.0.2.10/24'", "192.0.2.10/24", "x", "", "");
    expect(said).toBe("box\nSTARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.0.2.10/24'\n");
    expect(
      readFileSync(join(dir, "asked"), "utf8").match(/These are not addresses|This is not an address|A name consists/g),
    ).toHaveLength(4);
  });
});

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

  it("replaces a link, not the file it points to", () => {
    const { output } = configured(
      [place("/etc/link", "0644", "root", "root"), "cat /etc/target"],
      "echo old > /etc/target; ln -s target /etc/link",
    );
    expect(output).toBe("/etc/link 644 0:0 8\nold\n");
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

  it("logs a user in where LightDM shows the login", () => {
    const { output } = configured(
      ["set_automatic_login clerk > /dev/null", "cat /etc/lightdm/lightdm.conf.d/50-kiln.conf"],
      "mkdir -p /etc/lightdm",
    );
    expect(output).toBe("[Seat:*]\nautologin-user=clerk\n");
  });

  it("changes the runlevel and the login in inittabs", () => {
    const inittab = String.raw`printf 'id:5:initdefault:\ntty1::respawn:/sbin/getty 38400 tty1 linux\n' > /etc/inittab`;
    const staged = fileOf("autologin", "#!/bin/sh\n");
    const { output } = configured(
      ["set_runlevel 3 multi-user.target", "set_automatic_login clerk", "cat /etc/inittab"],
      `${inittab}; cp ${staged} ${dir}/image/autologin; mkdir -p /usr/lib/kiln`,
    );
    expect(output).toBe(
      "id:3:initdefault:\ntty1::respawn:/sbin/getty -n -l /usr/lib/kiln/autologin 38400 tty1 linux\n",
    );
    expect(readFileSync(staged, "utf8")).toBe("#!/bin/sh\n");
  });
});
