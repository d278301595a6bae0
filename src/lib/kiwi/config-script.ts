import { firewallFunctions } from "#lib/kiwi/firewall";
import { machineIdentityFunctions } from "#lib/kiwi/machine-identity";
import { staged } from "#lib/kiwi/part";

/**
 * config.sh: KIWI runs it in the image after it has installed the packages, the files below root/ and the users. If it
 * fails, the agent shows the owner its line that begins with `kiln: error: `.
 */
export const configScript = (commands: readonly string[], moreFunctions = ""): string =>
  `${head}${firewallFunctions}${machineIdentityFunctions}${moreFunctions}\ntake_back_hosts\n${removeBuildLogs}${commands.map((command) => `${command}\n`).join("")}\nrm -rf ${staged}\n`;

/** zypper's records of this build. Their times would make every image a different one (decision 28). */
const removeBuildLogs = "rm -f /var/log/zypp/history /var/log/YaST2/config_diff_*.log\n";

const head = String.raw`#!/bin/bash
# Written by Kiln from an appliance's configuration.
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
staged=/image/kiln

fail() { echo "kiln: error: $*" >&2; trap - EXIT; exit 1; }
note() { echo "kiln: note: $*"; }
tell_failure() { [ "$1" -eq 0 ] || echo "kiln: error: The image could not be configured: \"$2\" ended with exit code $1." >&2; }
trap 'tell_failure $? "$BASH_COMMAND"' EXIT

has() { command -v "$1" > /dev/null 2>&1; }
has_systemd() { [ -x /usr/lib/systemd/systemd ] || [ -x /lib/systemd/systemd ]; }

# install_program FILE PATH
install_program() {
  mkdir -p "$(dirname "$2")"
  cp "$1" "$2"
  chmod 755 "$2"
}

# install_unit NAME: does nothing unless systemd is the init
install_unit() {
  has_systemd || return 0
  mkdir -p /etc/systemd/system/multi-user.target.wants
  cp "$staged/units/$1" "/etc/systemd/system/$1"
  chmod 644 "/etc/systemd/system/$1"
  ln -sf "../$1" "/etc/systemd/system/multi-user.target.wants/$1"
}

install_boot_program() {
  if has_systemd; then
    install_unit kiln-before-login.service
    install_unit kiln-after-services.service
  elif [ -d /etc/init.d ]; then
    install_program "$staged/init.d/E50kiln" /etc/init.d/E50kiln
    install_program "$staged/init.d/S98kiln" /etc/init.d/S98kiln
  else
    note "the image has neither systemd nor /etc/init.d: nothing runs when it boots"
  fi
}

# switch_service on|off NAME: does nothing if there is no such service
switch_service() {
  local verb=enable
  [ "$1" = on ] || verb=disable
  if has systemctl && [ -e "/usr/lib/systemd/system/$2.service" ]; then
    systemctl "$verb" "$2.service"
  elif has chkconfig && [ -e "/etc/init.d/$2" ]; then
    chkconfig "$2" "$1"
  fi
}

# set_sysconfig FILE NAME VALUE: does nothing if there is no such file
set_sysconfig() {
  [ -f "$1" ] || return 0
  { grep -v "^$2=" "$1" || true; echo "$2=\"$3\""; } > "$staged/sysconfig"
  cat "$staged/sysconfig" > "$1"
}

# During a build, KIWI replaces the image's /etc/hosts with the host's, and anything written to it is lost.
take_back_hosts() {
  [ "$(readlink /etc/hosts)" = hosts.kiwi ] || return 0
  rm /etc/hosts
  if [ -e /etc/hosts.rpmnew ]; then mv /etc/hosts.rpmnew /etc/hosts; else echo "127.0.0.1 localhost" > /etc/hosts; fi
}

# set_hostname NAME [ADDRESS]: a machine whose address is not known yet finds its own name at 127.0.1.1
set_hostname() {
  echo "$1" > /etc/hostname
  [ ! -e /etc/HOSTNAME ] || [ -L /etc/HOSTNAME ] || echo "$1" > /etc/HOSTNAME
  local names=$1
  case $1 in *.*) names="$1 $(echo "$1" | cut -d. -f1)" ;; esac
  echo "${"$"}{2:-127.0.1.1} $names" >> /etc/hosts
}

leave_network_to_network_manager() {
  [ -d /etc/NetworkManager ] || { note "the image has no NetworkManager: its network stays as its packages configured it"; return 0; }
  for other in wicked network systemd-networkd; do switch_service off "$other"; done
  switch_service on NetworkManager
}

# set_runlevel NUMBER TARGET
set_runlevel() {
  if has_systemd; then
    mkdir -p /etc/systemd/system
    ln -sf "/usr/lib/systemd/system/$2" /etc/systemd/system/default.target
  elif grep -qs '^id:[0-9]:initdefault:' /etc/inittab; then
    sed -i "s/^id:[0-9]:initdefault:/id:$1:initdefault:/" /etc/inittab
  else
    note "the image's init knows no runlevels"
  fi
}

set_automatic_login() {
  if has_systemd; then
    mkdir -p /etc/systemd/system/getty@tty1.service.d
    cp "$staged/autologin.conf" /etc/systemd/system/getty@tty1.service.d/kiln-autologin.conf
  elif grep -qs '^tty1::respawn:.*getty ' /etc/inittab; then
    install_program "$staged/autologin" /usr/lib/kiln/autologin
    sed -i 's|^\(tty1::respawn:.*getty\) |\1 -n -l /usr/lib/kiln/autologin |' /etc/inittab
  else
    note "the image has no getty on tty1 that could log $1 in"
  fi
  set_sysconfig /etc/sysconfig/displaymanager DISPLAYMANAGER_AUTOLOGIN "$1"
  if [ -d /etc/lightdm ]; then
    mkdir -p /etc/lightdm/lightdm.conf.d
    printf '[Seat:*]\nautologin-user=%s\n' "$1" > /etc/lightdm/lightdm.conf.d/50-kiln.conf
  fi
  # Debian's. Those of SUSE read sysconfig.
  if [ -f /etc/gdm3/daemon.conf ]; then
    grep -q '^\[daemon\]' /etc/gdm3/daemon.conf || echo '[daemon]' >> /etc/gdm3/daemon.conf
    sed -i "/^\[daemon\]/a AutomaticLoginEnable=true\nAutomaticLogin=$1" /etc/gdm3/daemon.conf
  fi
  [ -f /etc/sysconfig/displaymanager ] || ! has sddm || set_sddm_login "$1"
}

# set_sddm_login USER: without a session, SDDM shows its greeter
set_sddm_login() {
  local session
  for session in /usr/share/*sessions/plasma.desktop /usr/share/xsessions/*.desktop /usr/share/wayland-sessions/*.desktop; do
    [ -e "$session" ] || continue
    mkdir -p /etc/sddm.conf.d
    printf '[Autologin]\nUser=%s\nSession=%s\n' "$1" "$(basename "$session")" > /etc/sddm.conf.d/50-kiln.conf
    return 0
  done
  note "the image has no session that SDDM could start for $1"
}

# known FILE NAME: whether /etc/passwd or /etc/group lists the name
known() {
  local name rest
  while IFS=: read -r name rest; do [ "$name" != "$2" ] || return 0; done < "$1"
  return 1
}

# account_in FILE NAME: the name, or its number. The group of the user nobody is nobody, nogroup or 65534, depending on the
# distribution.
account_in() {
  case $2 in *[!0-9]*) ;; *) echo "$2"; return ;; esac
  if known "$1" "$2"; then echo "$2"
  elif [ "$2" = nobody ]; then known "$1" nogroup && echo nogroup || echo 65534
  else return 1
  fi
}

# home_of USER: by name or number
home_of() {
  local name password uid gid info home shell
  while IFS=: read -r name password uid gid info home shell; do
    case $1 in "$name" | "$uid") echo "${"$"}{home%/}"; return ;; esac
  done < /etc/passwd
}

# make_folders FOLDER OWNER GROUP: those below the owner's home belong to the owner, as if the owner had made them
make_folders() {
  local home
  [ ! -d "$1" ] || return 0
  make_folders "$(dirname "$1")" "$2" "$3" && mkdir "$1" || return 1
  home=$(home_of "$2")
  case $1 in "$home"/*) [ -z "$home" ] || chown "$2:$3" "$1" ;; esac
}

# keeps_files PATH: fails for folders that the kernel or each boot creates, and for the builder's own folder
keeps_files() { case $1/ in /dev/* | /proc/* | /sys/* | /run/* | /image/*) return 1 ;; esac; }

# note_if_dropped PATH: the build script may use such files, but KIWI copies them into no image
note_if_dropped() {
  case $1/ in
    /tmp/* | /var/cache/kiwi/* | /.profile/* | /.kconfig/* | /.buildenv/*)
      note "the file $1 is there only during the build: no image keeps it" ;;
  esac
}

# place FILE PATH MODE OWNER GROUP
place() {
  local owner group folder real
  folder=$(dirname "$2")
  keeps_files "$folder" || fail "The file $2 cannot be put in the image, because $folder is recreated at each boot."
  owner=$(account_in /etc/passwd "$4") || fail "The file $2 belongs to the user $4, which does not exist in the image."
  group=$(account_in /etc/group "$5") || fail "The file $2 belongs to the group $5, which does not exist in the image."
  [ ! -d "$2" ] || [ -L "$2" ] || fail "The file $2 cannot be put in the image, because the image has a folder of that name."
  make_folders "$folder" "$owner" "$group" || fail "The file $2 cannot be put in the image, because a part of its path is not a folder."
  real=$(cd "$folder" && pwd -P)
  keeps_files "$real" || fail "The file $2 cannot be put in the image, because $folder is recreated at each boot."
  note_if_dropped "${"$"}{real%/}/$(basename "$2")"
  rm -f "$2"
  cp "$1" "$2"
  chown "$owner:$group" "$2"
  chmod "$3" "$2"
}

run_build_script() {
  echo "kiln: the build script begins"
  (cd / && "$staged/build-script" < /dev/null) || fail "The build script of the appliance ended with exit code $?."
  echo "kiln: the build script has ended"
}
`;
