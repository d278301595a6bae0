import { expect, it } from "vitest";
import { firewallPart, wellKnownPorts } from "#lib/kiwi/firewall";
import { shellCommand } from "#lib/kiwi/shell";

/** As IANA registered them: https://www.iana.org/assignments/service-names-port-numbers. */
const registered = `ftp 21, ssh 22, telnet 23, smtp 25, domain 53, http 80, pop3 110, ntp 123, imap 143, snmp 161,
  ldap 389, https 443, imaps 993, mysql 3306, postgresql 5432`;
const ports = [...registered.matchAll(/([a-z0-9]+) (\d+)/g)].map(([, name = "", port = ""]) => [name, port] as const);

const commandsFor = (...openPorts: string[]) => firewallPart({ firewall: { enabled: true, openPorts } }).commands;

it.each([...ports, ["dns", "53"] as const])("opens %s as port %s", (name, port) => {
  expect(commandsFor(name)).toEqual([shellCommand("open_port", name, "tcp", port), "switch_firewall_on"]);
});

it("has no other names", () => {
  expect(Object.keys(wellKnownPorts).toSorted()).toEqual([...ports.map(([name]) => name), "dns"].toSorted());
});

it("opens a port by its number and protocol, and leaves an unknown name to the image", () => {
  expect(commandsFor("8443/udp", "Gopher")).toEqual([
    shellCommand("open_port", "8443", "udp", "8443"),
    shellCommand("open_port", "gopher", "tcp", ""),
    "switch_firewall_on",
  ]);
});
