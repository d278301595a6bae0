import { checksPort, maxCheckOutput, runCommands } from "#lib/contract/index";
import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";

/**
 * The program that runs the commands of checks, in the images of appliances with such checks. It needs no key: only the
 * builder agent that checks an image gives its machine the port that the program reads.
 */
export function checkCommandsPart({ checks }: Pick<ImageFacts, "checks">): Part {
  if (!runCommands(checks)) return {};
  return {
    files: {
      [program]: runner,
      // This file is for an init without units (boot.ts).
      [`${program}.user`]: linesOf("root"),
      "root/image/kiln/units/kiln-checks.service": unit,
    },
    commands: ["install_unit kiln-checks.service"],
  };
}

const program = "root/usr/lib/kiln/autostarts/checks";

const runner = String.raw`#!/bin/sh
# Runs the commands that Kiln checks, and answers each with its exit code and the beginning of its output. The port is there
# only while a builder agent of Kiln checks this machine.
modprobe virtio_console 2> /dev/null

find_port() {
  for name in /sys/class/virtio-ports/*/name; do
    [ "$(cat "$name" 2> /dev/null)" != ${checksPort} ] || port=/dev/$(basename "$(dirname "$name")")
  done
  [ -c "$port" ]
}

# The driver learns the names of its ports from the hypervisor, some time after it is loaded.
left=30
until find_port; do
  left=$((left - 1))
  [ $left -gt 0 ] || exit 0
  sleep 1
done
exec 3<> "$port"

# run NUMBER COMMAND: one line is one write, so that answers to commands at the same time are not mixed
run() {
  output=$(mktemp)
  sh -c "$(printf %s "$2" | base64 -d)" > "$output" 2>&1 < /dev/null 3>&-
  code=$?
  printf '%s %s %s\n' "$1" "$code" "$(head -c ${maxCheckOutput} "$output" | base64 | tr -d '\n')" >&3
  rm -f "$output"
}

echo ready >&3
# The port has an end while nobody is connected to it.
while :; do
  while read -r number command <&3; do run "$number" "$command" & done
  sleep 1
done
`;

const unit = linesOf(
  "[Unit]",
  "Description=Commands of Kiln's checks",
  "After=network.target",
  "ConditionVirtualization=vm",
  "",
  "[Service]",
  "Environment=HOME=/root",
  "ExecStart=/usr/lib/kiln/autostarts/checks",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);
