import type { ImageFacts } from "#lib/kiwi/facts";
import { growRootFunction } from "#lib/kiwi/grow-root";
import type { Own } from "#lib/kiwi/import/own";
import { remakeFunctions } from "#lib/kiwi/machine-identity";
import { linesOf, staging, type Part } from "#lib/kiwi/part";
import { withInterpreter } from "#lib/kiwi/shell";

/**
 * One small program in the image does everything that must happen at boot. systemd starts it from two units, and a third
 * one fails if a step has failed. Another init starts it from two scripts in /etc/init.d. The script that runs before the
 * login is named E50, because the sample distribution's init looks for that name.
 */
export function bootPart({ scripts: { boot }, settings }: BootFacts): Part {
  return {
    files: {
      "root/usr/lib/kiln/boot": runner,
      ...(boot.enabled && boot.script !== "" && { "root/usr/lib/kiln/boot-script": withInterpreter(boot.script) }),
      ...(settings.swapIn === "file" && settings.swapSizeMb > 0 && { [swapPath]: swap(settings.swapSizeMb) }),
      [`${staging}/units/kiln-before-login.service`]: unitBeforeLogin,
      [`${staging}/units/kiln-after-services.service`]: unitAfterServices,
      [`${staging}/units/kiln-boot-steps.service`]: unitOfFailures,
      [`${staging}/init.d/E50kiln`]: initScript("before-login"),
      [`${staging}/init.d/S98kiln`]: initScript("after-services"),
    },
    commands: ["install_boot_program", "install_unit kiln-boot-steps.service"],
  };
}

const swapPath = "root/usr/lib/kiln/swap";

/** A swap partition is in config.xml. */
export const readSwap = ({ textAt }: Own) => ({
  swap_in: "file",
  swap_size: Number(/^size_mb=(\d+)$/m.exec(textAt(swapPath) ?? "")?.[1] ?? 0),
});

type BootFacts = Pick<ImageFacts, "scripts" | "settings">;

const runner = String.raw`#!/bin/sh
# Runs the appliance's boot steps: boot before-login, boot after-services. A step that must run once is retried at the next
# boot if it fails.
here=/usr/lib/kiln
state=/var/lib/kiln
failures=/run/kiln-failures
mkdir -p "$state"

# report STEP CODE: the steps after it run. Another init may keep /run, and does not ask for it.
report() {
  echo "kiln: $1 ended with exit code $2"
  [ ! -d /run/systemd/system ] || echo "kiln: $1 ended with exit code $2" >> "$failures"
}

each_time() { [ ! -x "$here/$1" ] || "$here/$1" || report "$1" $?; }

once() {
  [ -x "$here/$1" ] && [ ! -e "$state/$1.done" ] || return 0
  if "$here/$1"; then : > "$state/$1.done"; else report "$1" $?; fi
}

# For an init without units: starts every program as its user, in the background.
start_autostarts() {
  [ ! -d /run/systemd/system ] || return 0
  for owner in "$here"/autostarts/*.user; do
    [ -e "$owner" ] || continue
    program=$here/autostarts/$(basename "$owner" .user)
    su "$(cat "$owner")" -c "$program" < /dev/null > /dev/null 2>&1 &
  done
}

${remakeFunctions}
${growRootFunction}
case $1 in
  grow-root) grow_root "$2" ;;
  host-keys) make_host_keys ;;
  machine-identity) make_machine_identity ;;
  before-login)
    [ -d /run/systemd/system ] || { "$0" host-keys && "$0" machine-identity; }
    grow_root /
    each_time firewall
    each_time swap
    once accept-eulas
    once ask-network
    ;;
  after-services)
    once make-databases
    start_autostarts
    each_time boot-script
    ;;
  failures) ! cat "$failures" 2> /dev/null ;;
esac
`;

const swap = (sizeMb: number) => String.raw`#!/bin/sh
# Swap in a file, made at the first boot. If the disk has too little room for it and the system, there is no swap. Every image
# type contains this program, because all are made from one root. A system whose root is in memory must not swap to it, and a
# container cannot. That of WSL is a machine of its own.
case $(awk '$2 == "/" {type = $3} END {print type}' /proc/mounts) in
  overlay | tmpfs | ramfs | rootfs | squashfs) exit 0 ;;
esac
case $(cat /run/systemd/container 2> /dev/null) in "" | wsl) ;; *) exit 0 ;; esac
file=/var/lib/kiln/swap
size_mb=${sizeMb}
reserve_mb=64

free_mb() { df -Pm /var/lib/kiln | awk 'NR == 2 {print $4}'; }

# The file gets its name when all of it is on the disk. So after a power cut it is made again.
make_file() {
  rm -f "$file.new"
  if [ "$(free_mb)" -lt $((size_mb + reserve_mb)) ]; then
    echo "kiln: not enough free disk space for $size_mb MB of swap"
    exit 0
  fi
  # btrfs can only swap to a file without copy-on-write.
  : > "$file.new" && chmod 600 "$file.new" && chattr +C "$file.new" 2> /dev/null
  dd if=/dev/zero of="$file.new" bs=1M count="$size_mb" 2> /dev/null && mkswap "$file.new" > /dev/null &&
    sync && mv "$file.new" "$file" || { rm -f "$file.new"; exit 1; }
}

[ -e "$file" ] || make_file
swapon "$file"
`;

const unitBeforeLogin = linesOf(
  "[Unit]",
  "Description=Appliance setup and questions before the login",
  "After=local-fs.target plymouth-quit-wait.service",
  "Wants=network-pre.target",
  "Before=network-pre.target getty.target getty@tty1.service serial-getty@ttyS0.service serial-getty@ttyAMA0.service display-manager.service",
  "",
  "[Service]",
  "Type=oneshot",
  "RemainAfterExit=yes",
  "TimeoutStartSec=infinity",
  "ExecStart=/usr/lib/kiln/boot before-login",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);

const unitAfterServices = linesOf(
  "[Unit]",
  "Description=Appliance setup after its services start",
  "After=network.target postgresql.service mariadb.service mysql.service",
  "",
  "[Service]",
  "Type=oneshot",
  "RemainAfterExit=yes",
  "TimeoutStartSec=infinity",
  "ExecStart=/usr/lib/kiln/boot after-services",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);

/**
 * Not the units of the steps: systemd ends all processes of a unit that fails, also those that the boot script has left
 * in the background. And it would run the steps again when it next starts multi-user.target.
 */
const unitOfFailures = linesOf(
  "[Unit]",
  "Description=Success of all steps of the appliance setup",
  "After=kiln-before-login.service kiln-after-services.service",
  "",
  "[Service]",
  "Type=oneshot",
  "RemainAfterExit=yes",
  "ExecStart=/usr/lib/kiln/boot failures",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
);

const initScript = (moment: string) => `#!/bin/sh
[ "$1" != start ] || exec /usr/lib/kiln/boot ${moment}
`;
