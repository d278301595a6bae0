import type { ImageFacts } from "#lib/kiwi/facts";
import { staging, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/** Service names that work even in a small image without /etc/services (from IANA's port registry). */
export const wellKnownPorts: Readonly<Record<string, number>> = {
  ftp: 21,
  ssh: 22,
  telnet: 23,
  smtp: 25,
  domain: 53,
  dns: 53,
  http: 80,
  pop3: 110,
  ntp: 123,
  imap: 143,
  snmp: 161,
  ldap: 389,
  https: 443,
  imaps: 993,
  mysql: 3306,
  postgresql: 5432,
};

/** Configures the first of firewalld, SuSEfirewall2 and nft that the image contains. Closes all other ports. */
export function firewallPart({ firewall: { enabled, openPorts } }: Pick<ImageFacts, "firewall">): Part {
  if (!enabled) return { commands: ["switch_firewall_off"] };
  return {
    files: { [`${staging}/firewall`]: filterAtBoot },
    commands: [...openPorts.map(openPort), "switch_firewall_on"],
  };
}

function openPort(text: string): string {
  const [name = "", protocol = "tcp"] = text.toLowerCase().split("/");
  const number = /^\d+$/.test(name) ? name : String(wellKnownPorts[name] ?? "");
  return shellCommand("open_port", name, protocol, number);
}

const filterAtBoot = `#!/bin/sh
exec nft -f /etc/kiln/firewall.nft
`;

/** Functions of config.sh. */
export const firewallFunctions = String.raw`
# Open ports, as PORT/PROTOCOL.
ports=

# port_of NAME PROTOCOL
port_of() {
  local name port rest
  while read -r name port rest; do
    case "$name $port" in "$1 "*"/$2") dirname "$port" && return ;; esac
  done < /etc/services
}

# open_port NAME PROTOCOL [NUMBER]
open_port() {
  local number=$3
  [ -n "$number" ] || [ ! -e /etc/services ] || number=$(port_of "$1" "$2")
  [ -n "$number" ] || fail "The firewall cannot open $1: the image has no /etc/services that lists its port."
  ports="$ports $number/$2"
}

ports_of() {
  for port in $ports; do case $port in */"$1") printf '%s ' "$(dirname "$port")" ;; esac; done
}

# in_default_zone OPTION VALUE...: one call for all values, because the program starts slowly
in_default_zone() {
  local option=$1 value options=
  shift
  for value; do options="$options $option=$value"; done
  [ -z "$options" ] || firewall-offline-cmd $options
}

# Some distributions open services and even most ports. dhcpv6-client stays, because DHCPv6 answers come to a new port.
close_default_zone() {
  local services
  services=$(firewall-offline-cmd --list-services | tr ' ' '\n' | grep -vxF dhcpv6-client || true)
  in_default_zone --remove-service-from-zone $services
  in_default_zone --remove-port $(firewall-offline-cmd --list-ports)
}

switch_firewall_on() {
  if has firewall-offline-cmd; then
    firewall-offline-cmd --enabled
    close_default_zone
    switch_service on firewalld
    in_default_zone --add-port $ports || fail "firewalld does not open all of$ports."
  elif [ -e /etc/sysconfig/SuSEfirewall2 ]; then
    set_sysconfig /etc/sysconfig/SuSEfirewall2 FW_SERVICES_EXT_TCP "$(ports_of tcp)"
    set_sysconfig /etc/sysconfig/SuSEfirewall2 FW_SERVICES_EXT_UDP "$(ports_of udp)"
    switch_service on SuSEfirewall2
  elif has nft; then
    mkdir -p /etc/kiln
    write_filter > /etc/kiln/firewall.nft
    install_program "$staged/firewall" /usr/lib/kiln/firewall
  else
    note "the image has no firewall (firewalld, SuSEfirewall2 or nft): nothing is filtered"
  fi
}

switch_firewall_off() {
  ! has firewall-offline-cmd || firewall-offline-cmd --disabled
  switch_service off firewalld
  switch_service off SuSEfirewall2
}

# ICMP and ICMPv6 by number, because a small image has no /etc/protocols. The DHCP ports are open, because DHCP answers
# belong to no established connection.
write_filter() {
  cat << 'END'
flush ruleset
table inet kiln {
  chain input {
    type filter hook input priority 0; policy drop;
    iif lo accept
    ct state established,related accept
    meta l4proto 1 accept
    meta l4proto 58 accept
    udp dport 68 accept
    udp dport 546 accept
END
  for port in $ports; do echo "    $(basename "$port") dport $(dirname "$port") accept"; done
  printf '  }\n}\n'
}
`;
