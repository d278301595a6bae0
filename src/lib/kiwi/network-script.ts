/**
 * Configures the network of the image, for whichever network service it contains. It runs during the build, or at the
 * first boot after the questions. The sample distribution's init reads the sysconfig format.
 */
export const networkScript = String.raw`#!/bin/sh
# network dhcp
# network manual ADDRESS/PREFIX [ROUTER [NAMESERVER...]]
kind=$1 address=$2 router=$3
[ $# -lt 3 ] || shift 3
nameservers=
[ "$kind" = dhcp ] || nameservers=$*

family() { case $1 in *:*) echo 6 ;; *) echo 4 ;; esac; }

write_resolv_conf() {
  [ -n "$nameservers" ] || return 0
  # A link belongs to another program. During a build it may be KIWI's link to the host's file.
  case $(readlink /etc/resolv.conf) in
    resolv.conf.kiwi) rm /etc/resolv.conf ;;
    ?*) return 0 ;;
  esac
  for server in $nameservers; do echo "nameserver $server"; done > /etc/resolv.conf
}

# wicked, ifup, and the init of Tiny Linux
write_sysconfig() {
  {
    echo "STARTMODE='auto'"
    if [ "$kind" = dhcp ]; then echo "BOOTPROTO='dhcp'"; else echo "BOOTPROTO='static'" && echo "IPADDR='$address'"; fi
  } > /etc/sysconfig/network/ifcfg-eth0
  [ "$kind" = manual ] || return 0
  [ -z "$router" ] || echo "default $router - -" > /etc/sysconfig/network/routes
  if grep -qs '^NETCONFIG_DNS_STATIC_SERVERS=' /etc/sysconfig/network/config; then
    sed -i "s|^NETCONFIG_DNS_STATIC_SERVERS=.*|NETCONFIG_DNS_STATIC_SERVERS=\"$nameservers\"|" /etc/sysconfig/network/config
  else
    write_resolv_conf
  fi
}

with_comma() { [ -z "$1" ] || echo ",$1"; }

write_network_manager_family() {
  echo "[ipv$1]"
  if [ "$kind" = dhcp ] || [ "$(family "$address")" != "$1" ]; then
    echo "method=auto"
  else
    echo "method=manual" && echo "address1=$address$(with_comma "$router")"
  fi
  servers=
  for server in $nameservers; do [ "$(family "$server")" != "$1" ] || servers="$servers$server;"; done
  [ -z "$servers" ] || echo "dns=$servers"
}

write_network_manager() {
  file=/etc/NetworkManager/system-connections/kiln.nmconnection
  mkdir -p /etc/NetworkManager/system-connections
  : > "$file"
  chmod 600 "$file"
  {
    printf '%s\n' "[connection]" "id=kiln" "type=ethernet" "autoconnect=true"
    write_network_manager_family 4
    write_network_manager_family 6
  } >> "$file"
}

# Debian's ifupdown. The names of cards differ between machines, so a pattern finds them, and a program calls each "wired".
# The boot does not wait for a card.
write_ifupdown() {
  mkdir -p /usr/lib/kiln
  printf '%s\n' "#!/bin/sh" "echo wired" > /usr/lib/kiln/wired
  chmod 755 /usr/lib/kiln/wired
  {
    printf '%s\n' "source /etc/network/interfaces.d/*" "" "auto lo" "iface lo inet loopback" ""
    printf '%s\n' "mapping e*" "  script /usr/lib/kiln/wired"
    if [ "$kind" = dhcp ]; then
      printf '%s\n' "allow-hotplug /e*" "iface wired inet dhcp"
    else
      inet=inet
      [ "$(family "$address")" = 4 ] || inet=inet6
      printf '%s\n' "allow-hotplug /e*/1" "iface wired $inet static" "  address $address"
      [ -z "$router" ] || echo "  gateway $router"
      # For systemd-resolved or resolvconf, if one of them owns /etc/resolv.conf.
      [ -z "$nameservers" ] || echo "  dns-nameservers $nameservers"
    fi
  } > /etc/network/interfaces
  write_resolv_conf
  # After the questions of the first boot: the cards were found before.
  [ ! -d /run/systemd/system ] || udevadm trigger --action=add --subsystem-match=net
}

write_networkd() {
  mkdir -p /etc/systemd/network
  {
    printf '%s\n' "[Match]" "Name=en* eth*" "" "[Network]"
    if [ "$kind" = dhcp ]; then
      echo "DHCP=yes"
    else
      echo "Address=$address"
      [ -z "$router" ] || echo "Gateway=$router"
      for server in $nameservers; do echo "DNS=$server"; done
    fi
  } > /etc/systemd/network/20-kiln.network
  services=systemd-networkd.service
  if [ -e /usr/lib/systemd/systemd-resolved ]; then
    ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
    services="$services systemd-resolved.service"
  else
    write_resolv_conf
    [ "$kind" != dhcp ] || echo "kiln: note: the image has no systemd-resolved: systemd-networkd resolves no names by DHCP" >&2
  fi
  [ -n "$(command -v systemctl)" ] || return 0
  systemctl enable $services
  # After the questions of the first boot: this boot starts no service that was enabled during it.
  [ ! -d /run/systemd/system ] || systemctl restart --no-block $services
}

if [ -x /usr/sbin/wicked ]; then write_sysconfig
elif [ -d /etc/NetworkManager ]; then write_network_manager
elif [ -e /etc/default/networking ]; then write_ifupdown
elif [ -e /usr/lib/systemd/systemd-networkd ]; then write_networkd
elif [ -d /etc/sysconfig/network ]; then write_sysconfig
else echo "kiln: note: the image has no known network service: $kind was not configured" >&2
fi
`;
