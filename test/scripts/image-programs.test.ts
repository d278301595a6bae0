/** Runs programs from images here, in a separate mount namespace with an empty /etc. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { networkScript } from "#lib/kiwi/network-script";
import { plain } from "../kiwi/support/facts.ts";
import { bareSystem } from "./support/bare-system.ts";

const { dir, fileOf, inBareSystem } = bareSystem();

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
    const servers = [
      "  dns-nameservers 192.0.2.2 2001:db8::2",
      "nameserver 192.0.2.2",
      "nameserver 2001:db8::2",
      "wired",
    ];
    expect(output.split("\n")).toEqual([
      ...lines,
      ...first,
      ...servers,
      "allow-hotplug /e*",
      "iface wired inet dhcp",
      "",
    ]);
  });

  it("tells ifupdown the name servers even if systemd-resolved owns /etc/resolv.conf", () => {
    const { output } = inBareSystem(
      `mkdir -p /etc/default /etc/network; touch /etc/default/networking
       ln -s ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
       ${manual}; tail -n 1 /etc/network/interfaces; readlink /etc/resolv.conf`,
      shell,
    );
    expect(output).toBe("  dns-nameservers 192.0.2.2 2001:db8::2\n../run/systemd/resolve/stub-resolv.conf\n");
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

  it.each([
    ["enables systemd-networkd during a build", "", ["enable"]],
    ["also starts it after the questions", "mkdir -p /run/systemd/system", ["enable", "restart --no-block"]],
  ])("%s", (_what, before, verbs) => {
    const { output } = inBareSystem(
      `touch /usr/lib/systemd/systemd-networkd /usr/lib/systemd/systemd-resolved
       mkdir /run/bin; printf '#!/bin/sh\\necho "$@"\\n' > /run/bin/systemctl; chmod 755 /run/bin/systemctl
       ${before}
       PATH=/run/bin:$PATH ${manual}`,
      shell,
    );
    expect(output).toBe(verbs.map((verb) => `${verb} systemd-networkd.service systemd-resolved.service\n`).join(""));
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
