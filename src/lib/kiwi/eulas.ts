import { consolesFile } from "#lib/kiwi/consoles";
import type { ImageFacts } from "#lib/kiwi/facts";
import type { Part } from "#lib/kiwi/part";

/** Licences, shown before the first login. If the user does not accept them, the system switches itself off. */
export function eulaPart({ eulas }: Pick<ImageFacts, "eulas">): Part {
  if (eulas.length === 0) return {};
  const texts = eulas.map((text, at) => [
    `root/usr/share/kiln/eulas/${String(at + 1).padStart(2, "0")}.txt`,
    text.endsWith("\n") ? text : `${text}\n`,
  ]);
  return { files: { ...Object.fromEntries(texts), "root/usr/lib/kiln/accept-eulas": acceptance, ...consolesFile } };
}

const acceptance = String.raw`#!/bin/sh
# Shows each licence, twenty lines at a time, and asks for acceptance. On a no, switches the system off.
. /usr/lib/kiln/consoles

show() {
  shown=0
  while IFS= read -r line <&3 || [ -n "$line" ]; do
    printf '%s\n' "$line"
    shown=$((shown + 1))
    [ $((shown % 20)) -ne 0 ] || { printf -- '-- Press Enter for more --' && read -r more; } || return 1
  done 3< "$1"
}

accept_all() {
  for text in /usr/share/kiln/eulas/*; do
    printf '\n'
    show "$text" || return 1
    while :; do
      printf '\nDo you accept this licence? (yes/no) '
      read -r answer || return 1
      case $answer in
        [Yy] | [Yy][Ee][Ss]) break ;;
        [Nn] | [Nn][Oo]) echo "You cannot use the system without accepting it. Switching off." && sync && poweroff -f ;;
      esac
    done
  done
}

on_consoles accept_all
`;
