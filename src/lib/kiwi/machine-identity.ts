import { identityAt, identityFiles, type IdentityFiles } from "#lib/contract/index";
import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, staging, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Removes the files that must be different on each machine. Packages make them when they are installed, so all copies
 * of an image would share them, and everyone with the image would know them. Files that the owner adds stay. This part
 * comes last, because a build script may make some too.
 */
export const machineIdentityPart = ({ overlay }: Pick<ImageFacts, "overlay">): Part => ({
  files: {
    [`${staging}/units/kiln-host-keys.service`]: hostKeysUnit,
    [`${staging}/units/kiln-machine-identity.service`]: identityUnit,
  },
  commands: [
    shellCommand("forget_machine", ...overlay.map(({ path }) => path).filter(identityAt)),
    "install_unit kiln-host-keys.service",
    "install_unit kiln-machine-identity.service",
  ],
});

/** The machine-id is emptied rather than removed, by `forget_machine_id`. */
const emptied = "/etc/machine-id";

const forgetLine = ({ paths, remake, isNeeded }: IdentityFiles): string => {
  const files = paths.filter((path) => path !== emptied).join(" ");
  const condition = isNeeded && remake ? `[ ! -x ${remake.program} ] || ` : "";
  return `  ${condition}for file in ${files}; do forget "$file" "$@"; done\n`;
};

/** Functions of config.sh. */
export const machineIdentityFunctions = String.raw`
# forget FILE KEPT...: removes the file and the links next to it that lead to it, unless it is one of those to keep
forget() {
  local file=$1 kept
  [ -f "$file" ] && [ ! -L "$file" ] || return 0
  shift
  for kept in "$@"; do [ "$kept" != "$file" ] || return 0; done
  rm -f "$file"
  find "$(dirname "$file")" -maxdepth 1 -lname "$(basename "$file")" -exec rm -f {} + 2> /dev/null || true
}

# forget_machine KEPT...
forget_machine() {
  local file
${identityFiles.map(forgetLine).join("")}  forget_machine_id "$@"
}

# systemd fills an empty file at the first boot. If the file were missing, systemd would also reset which services start. So
# a file that is missing, empty or "uninitialized" stays as the distribution made it.
forget_machine_id() {
  case $(cat ${emptied} 2> /dev/null) in "" | uninitialized) return 0 ;; esac
  forget ${emptied} "$@"
  ! has_systemd || [ -e ${emptied} ] || : > ${emptied}
}
`;

const remakeLines = ({ paths, remake }: IdentityFiles): string[] => {
  if (!remake) return [];
  const { program, unless, command } = remake;
  const other = unless === undefined ? "" : `[ ! -e ${unless} ] && `;
  return [`  if ${other}lacks ${program} ${paths.join(" ")}; then ${command}; fi`];
};

/** The units that only some services wait for, and the others. */
const waited = identityFiles.filter(({ remake }) => remake?.before);
const others = identityFiles.filter(({ remake }) => !remake?.before);

/** Functions of the boot program. Each command runs at the first boot only: then its files exist. */
export const remakeFunctions = String.raw`
# lacks PROGRAM FILE...: whether the image has the program, but none of the files
lacks() {
  [ -x "$1" ] || return 1
  shift
  for file in "$@"; do [ ! -s "$file" ] || return 1; done
}

make_host_keys() {
${waited.flatMap(remakeLines).join("\n")}
}

make_machine_identity() {
${others.flatMap(remakeLines).join("\n")}
}
`;

/** Separate units, because the boot may wait for answers at the console. */
const unitOf = (description: string, step: string, before: readonly string[]): string =>
  linesOf(
    "[Unit]",
    `Description=${description}`,
    `Before=${before.join(" ")}`,
    "",
    "[Service]",
    "Type=oneshot",
    "RemainAfterExit=yes",
    `ExecStart=/usr/lib/kiln/boot ${step}`,
    "",
    "[Install]",
    "WantedBy=multi-user.target",
  );

const waiting = waited.flatMap(({ remake }) => remake?.before ?? []);
const hostKeysUnit = unitOf("SSH host keys of this machine", "host-keys", waiting);
/** Servers start after network.target. */
const identityUnit = unitOf("Keys and names of this machine", "machine-identity", ["network.target"]);
