import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, staging, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Removes the files that each machine must create at its own first boot: SSH host keys and the machine-id. Packages
 * create them during installation, so all copies of an image would share them and everyone with the image would know
 * them. Files that the owner adds stay. This part comes last, because a build script may create some too.
 */
export const machineIdentityPart = ({ overlay }: Pick<ImageFacts, "overlay">): Part => ({
  files: { [`${staging}/units/kiln-host-keys.service`]: unit },
  commands: [
    shellCommand("forget_machine", ...overlay.map(({ path }) => path).filter(isMachineIdentity)),
    "install_unit kiln-host-keys.service",
  ],
});

/** Whether a file identifies a machine, so that `forget_machine` removes it. */
export const isMachineIdentity = (path: string): boolean =>
  /^\/(?:etc\/(?:ssh\/ssh_host_|dropbear\/dropbear_|machine-id$)|var\/lib\/(?:systemd\/(?:random-seed|credential\.secret)|NetworkManager\/secret_key|dbus\/machine-id)$)/.test(
    path,
  );

/** Functions of config.sh. */
export const machineIdentityFunctions = String.raw`
# forget FILE KEPT...: removes the file, unless it is one of those to keep
forget() {
  local file=$1 kept
  shift
  for kept in "$@"; do [ "$kept" != "$file" ] || return 0; done
  rm -f "$file"
}

# forget_machine KEPT...
forget_machine() {
  local file
  for file in /etc/ssh/ssh_host_*key /etc/ssh/ssh_host_*key.pub /etc/dropbear/dropbear_*_host_key \
    /var/lib/systemd/random-seed /var/lib/systemd/credential.secret /var/lib/NetworkManager/secret_key; do
    forget "$file" "$@"
  done
  # A link leads to /etc/machine-id.
  [ -L /var/lib/dbus/machine-id ] || forget /var/lib/dbus/machine-id "$@"
  forget_machine_id "$@"
}

# systemd fills an empty file at the first boot. If the file were missing, systemd would also reset which services start. So
# a file that is missing, empty or "uninitialized" stays as the distribution made it.
forget_machine_id() {
  case $(cat /etc/machine-id 2> /dev/null) in "" | uninitialized) return 0 ;; esac
  forget /etc/machine-id "$@"
  ! has_systemd || [ -e /etc/machine-id ] || : > /etc/machine-id
}
`;

/**
 * Functions of the boot program. In other distributions, the services create their keys. In Debian, the packages do so
 * only when they are installed.
 */
export const hostKeyFunctions = String.raw`
make_host_keys() {
  [ -x /usr/sbin/sshd ] && [ -x /usr/bin/ssh-keygen ] && [ ! -x /usr/libexec/openssh/sshd-keygen ] || return 0
  for key in /etc/ssh/ssh_host_*_key; do [ ! -s "$key" ] || return 0; done
  ssh-keygen -A
}

make_dropbear_keys() {
  [ -x /usr/sbin/dropbear ] && [ -x /usr/bin/dropbearkey ] && mkdir -p /etc/dropbear || return 0
  for key in /etc/dropbear/dropbear_*_host_key; do [ ! -s "$key" ] || return 0; done
  for type in rsa ecdsa ed25519; do dropbearkey -t "$type" -f "/etc/dropbear/dropbear_${"${type}"}_host_key"; done
}
`;

/** A separate unit, because the boot may wait for answers at the console. */
const unit = linesOf(
  "[Unit]",
  "Description=SSH host keys of this machine",
  "Before=ssh.service sshd.service dropbear.service",
  "",
  "[Service]",
  "Type=oneshot",
  "RemainAfterExit=yes",
  "ExecStart=/usr/lib/kiln/boot host-keys",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);
