import type { ImageFacts } from "#lib/kiwi/facts";
import { argumentsOf, type Own } from "#lib/kiwi/import/own";
import { linesOf, staging, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Takes the place of a hash. No password matches it, and unlike `!` it does not lock the account, so sshd accepts keys.
 */
export const noPassword = "*";

type User = ImageFacts["users"][number];

/** Gives users SSH keys, and administrators all rights with sudo. Sets whether the SSH server accepts passwords. */
export function accessPart({ users, settings }: Pick<ImageFacts, "users" | "settings">): Part {
  const withKeys = users.filter(({ sshKeys = [] }) => sshKeys.length > 0);
  const administrators = users.filter(({ administrator }) => administrator);
  return {
    files: {
      ...Object.fromEntries(withKeys.map(({ name, sshKeys = [] }) => [`${keysFolder}${name}`, linesOf(...sshKeys)])),
      ...(administrators.length > 0 && { [`${staging}/sudoers`]: linesOf(...administrators.flatMap(sudoRule)) }),
    },
    commands: [
      ...withKeys.map(({ name, group, homedir }) => shellCommand("install_ssh_keys", name, group, homedir)),
      ...(administrators.length > 0
        ? [shellCommand("make_administrators", ...administrators.map(({ name }) => name))]
        : []),
      ...sshPasswords(settings, withKeys.length > 0),
    ],
  };
}

/** Without a choice, the server stays as its package configures it, until there is a key to log in with. */
function sshPasswords({ sshPasswords: choice }: ImageFacts["settings"], hasKeys: boolean): string[] {
  if (choice === "" && !hasKeys) return [];
  return [shellCommand("set_ssh_passwords", choice === "always" ? "yes" : "no", choice)];
}

export const readSshPasswords = ({ commands }: Own) => ({
  ssh_passwords: argumentsOf(commands, "set_ssh_passwords")[0]?.[1] ?? "",
});

/** The description's folder of SSH keys, with a file for each user. */
export const keysFolder = `${staging}/ssh-keys/`;

/** By default, SUSE's sudo requires root's password. A user without a password could not answer that prompt. */
const sudoRule = ({ name, passwordHash }: User) => [
  `Defaults:${name} !targetpw`,
  `${name} ALL=(ALL:ALL) ${passwordHash === noPassword ? "NOPASSWD: " : ""}ALL`,
];

/** Functions of config.sh. */
export const accessFunctions = String.raw`
# install_ssh_keys USER GROUP HOME
install_ssh_keys() {
  mkdir -p "$3/.ssh"
  cp "$staged/ssh-keys/$1" "$3/.ssh/authorized_keys"
  chown "$1:$2" "$3/.ssh" "$3/.ssh/authorized_keys"
  chmod 700 "$3/.ssh"
  chmod 600 "$3/.ssh/authorized_keys"
}

# make_administrators USER...: sudo reads the rules. Other programs, such as polkit, look for the group sudo or wheel.
make_administrators() {
  local user group
  for user in "$@"; do
    for group in sudo wheel; do
      known /etc/group "$group" || continue
      usermod -a -G "$group" "$user" || note "the image has no usermod that could add $user to the group $group"
    done
  done
  has sudo || { note "the image has no sudo, so its administrators need the password of root"; return 0; }
  mkdir -p /etc/sudoers.d
  cp "$staged/sudoers" /etc/sudoers.d/kiln-administrators
  chmod 440 /etc/sudoers.d/kiln-administrators
}

# set_ssh_passwords yes|no CHOICE: sshd obeys the first line about a subject, so the file must be read first. By default it
# accepts no password of root.
set_ssh_passwords() {
  local folder=/etc/ssh/sshd_config.d main=/etc/ssh/sshd_config
  has sshd || { note "the image has no OpenSSH server, so nothing decides whether it accepts passwords"; return 0; }
  mkdir -p "$folder"
  printf '%s\n' "PasswordAuthentication $1" "KbdInteractiveAuthentication $1" > "$folder/10-kiln.conf"
  [ "$1" = no ] || echo 'PermitRootLogin yes' >> "$folder/10-kiln.conf"
  [ ! -e "$main" ] || grep -q "^Include $folder/" "$main" || sed -i "1i Include $folder/*.conf" "$main"
}
`;
