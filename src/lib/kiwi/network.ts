import { consolesFile } from "#lib/kiwi/consoles";
import type { ImageFacts } from "#lib/kiwi/facts";
import { hasCloudInit, leavesNetworkToCloudInit } from "#lib/kiwi/first-boot";
import { networkScript } from "#lib/kiwi/network-script";
import { staged, staging, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

type Network = ImageFacts["network"];

/**
 * Sets the host name and the addresses of the image. The addresses are used only with `manual` (compatibility.md,
 * "Configuration").
 */
export function networkPart({ network, ...image }: Pick<ImageFacts, "network" | "imageType" | "settings">): Part {
  const isOfCloudInit = hasCloudInit(image) && leavesNetworkToCloudInit(network);
  const { files = {}, commands = [] } = isOfCloudInit ? ofCloudInit : addressPart(network);
  return { files, commands: [...hostname(network), ...commands] };
}

const ofCloudInit: Part = { commands: ["leave_network_to_cloud_init"] };

function addressPart(network: Network): Part {
  switch (network.type) {
    case "dhcp":
      return withScript([`${staged}/network dhcp`]);
    case "manual":
      return withScript([shellCommand(`${staged}/network`, "manual", ...addresses(network))]);
    case "ask_on_first_boot":
      return {
        files: {
          "root/usr/lib/kiln/network": networkScript,
          "root/usr/lib/kiln/ask-network": questions,
          ...consolesFile,
        },
      };
    case "network_manager":
      return { commands: ["leave_network_to_network_manager"] };
    case "none":
      return {};
  }
}

const withScript = (commands: string[]): Part => ({ files: { [`${staging}/network`]: networkScript }, commands });

const addresses = ({ ip, netmask, route, nameservers }: Network): string[] => [
  `${ip}/${prefixLength(netmask)}`,
  route,
  ...nameservers,
];

const hostname = ({ type, hostname, ip }: Network): string[] =>
  hostname === "" ? [] : [shellCommand("set_hostname", hostname, ...(type === "manual" ? [ip] : []))];

/** Accepts `255.255.255.0`, `/24` and `24`. */
export function prefixLength(netmask: string): number {
  const [, length] = /^\/?(\d+)$/.exec(netmask) ?? [];
  if (length !== undefined) return Number(length);
  return netmask.split(".").reduce((ones, byte) => ones + Number(byte).toString(2).replaceAll("0", "").length, 0);
}

const questions = String.raw`#!/bin/sh
# Asks for the network settings, once. Only the form of an answer is checked.
. /usr/lib/kiln/consoles

ask_name() {
  printf 'Host name (empty: do not change): '
  read -r name || return 1
  case $name in
    '') ;;
    *[!A-Za-z0-9.-]*) echo "A name consists of letters, digits, dots and dashes." && return 1 ;;
    *) echo "$name" > /etc/hostname && hostname "$name" ;;
  esac
}

ask_address() {
  printf 'Address, such as 192.0.2.10/24 (empty: DHCP): '
  read -r address || return 1
  case $address in
    '') return 0 ;;
    *[!0-9A-Fa-f.:/]* | */*/*) ;;
    */[0-9]*) return 0 ;;
  esac
  echo "This is not an address with a prefix length."
  return 1
}

# ask_addresses QUESTION: puts the answer in $answer
ask_addresses() {
  printf '%s (empty: none): ' "$1"
  read -r answer || return 1
  case $answer in *[!0-9A-Fa-f.:\ ]*) echo "These are not addresses." && return 1 ;; esac
}

ask_all() {
  printf '\nNetwork settings\n'
  until ask_name; do sleep 1; done
  until ask_address; do sleep 1; done
  if [ -z "$address" ]; then /usr/lib/kiln/network dhcp; return; fi
  until ask_addresses 'Router'; do sleep 1; done
  router=$answer
  until ask_addresses 'Name servers, separated by spaces'; do sleep 1; done
  /usr/lib/kiln/network manual "$address" "$router" $answer
}

on_consoles ask_all
`;
