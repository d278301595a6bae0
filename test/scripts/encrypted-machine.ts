/**
 * The program that encrypts and opens a machine's root, on loop devices. The programs that it starts are fake:
 * cryptsetup keeps its key in a header that blkid recognises, and "encrypts" with a mark. A power cut ends the program
 * at that moment.
 */
import { settingsWith } from "../support/settings.ts";
import { imagesIn } from "./image-root.ts";

/** Boot partition, header, root. */
const table = String.raw`label: gpt\nsize=2048\nsize=40960\nsize=40960\n`;

const fakes = String.raw`
PATH=/usr/bin:$PATH
fake() { cat > /usr/bin/$1; chmod 755 /usr/bin/$1; }
# Counts the steps that change something, and cuts the power before the step $CUT.
fake step <<'END'
#!/bin/bash
n=$(($(cat /run/steps 2> /dev/null || echo 0) + 1)); echo $n > /run/steps
[ "$n" != "$CUT" ] || { kill -9 $(cat /run/program) $PPID; }
END
fake cryptsetup <<'END'
#!/bin/bash
value() { local one; for one; do shift; [ "$one" != "$name" ] || echo "$1"; done; }
name=--header; header=$(value "$@"); name=--key-file; key=$(value "$@")
here() { dd if="$header" bs=1 skip=65536 count=128 2> /dev/null | tr -d '\0'; }
case " $* " in
  *" luksDump "*) [ "$(dd if="$2" bs=1 skip=70000 count=4 2> /dev/null)" != torn ] || exit 1; case $(dd if="$2" bs=1 skip=70000 count=4 2> /dev/null) in
    done) ;;
    cuts) printf 'Requirements:\tonline-reencrypt-v2\n\nData segments:\n  0: crypt\n\toffset: 0\n\tlength: 512\n\tflags : in-reencryption\n\n' ;;
    logs) printf 'Requirements:\tonline-reencrypt-v2\n\nData segments:\n  0: crypt\n\toffset: 0\n\tlength: (whole device)\n\n  1: linear\n' ;;
    *) printf 'Requirements:\tonline-reencrypt-v2\n\nData segments:\n  0: linear\n\toffset: 0\n\tlength: (whole device)\n\n' ;;
    esac ;;
  *" --init-only "*) step
    truncate -s 1M "$header"
    printf 'LUKS\272\276\000\002' | dd of="$header" conv=notrunc 2> /dev/null
    printf kiln-root | dd of="$header" bs=1 seek=24 conv=notrunc 2> /dev/null
    dd if="$key" of="$header" bs=1 seek=65536 conv=notrunc 2> /dev/null ;;
  *" --resume-only "*) [ "$(here)" = "$(cat "$key")" ] || exit 2
    [ "$(dd if="$header" bs=1 skip=70000 count=4 2> /dev/null)" != cuts ] || exit 1
    step
    printf done | dd of="$header" bs=1 seek=70000 conv=notrunc 2> /dev/null; echo encrypted >> /run/said ;;
  *" repair "*) [ "$(here)" = "$(cat "$key")" ] || exit 2
    printf "\${REPAIRED:-more}" | dd of="$header" bs=1 seek=70000 conv=notrunc 2> /dev/null; echo repaired >> /run/said ;;
  *" open "*) [ "$(here)" = "$(cat "$key")" ] || exit 2
    [ "$(dd if="$header" bs=1 skip=70000 count=4 2> /dev/null)" != torn ] || exit 1
    [ ! -e /run/busy ] || { rm /run/busy; exit 5; }
    root=\${@: -2:1}
    ! flock --nonblock "\${root%p*}" true || echo "the disk is not locked" >> /run/said
    echo "opened $(basename "$header") $(basename "\${@: -2:1}") as \${@: -1}" >> /run/said ;;
esac
END
mv /usr/bin/dd /usr/bin/real-dd
fake dd <<'END'
#!/bin/bash
case "$*" in *fsync*) step ;; esac
exec real-dd "$@"
END
fake systemd-ask-password <<'END'
#!/bin/bash
echo "asked: \${@: -1}" >> /run/said
[ -s /run/answers ] || exit 1
head -n 1 /run/answers; sed -i 1d /run/answers
END
printf '#!/bin/sh\n' | fake udevadm
# A TPM gives a key back if it is the same one, the machine was started in the same way, and nobody has locked it since.
fake systemd-creds <<'END'
#!/bin/bash
registers="$(cat /run/tpm) $(cat /run/started) $(cat /run/locked)"
from=\${@: -2:1} to=\${@: -1}
case $1 in
  encrypt) step; { echo "$registers"; cat "$from"; } > "$to" ;;
  decrypt) [ "$(head -n 1 "$from")" = "$registers" ] && tail -n +2 "$from" > "$to" ;;
esac
END
fake tpm2_pcrevent <<'END'
#!/bin/sh
cat >> /run/locked
END
# A key server gives a key back while it runs and has the key that sealed it. Its network is there if DHCP answers.
fake clevis <<'END'
#!/bin/bash
[ -s /run/server ] || exit 1
case $1 in
  encrypt) case $3 in *"$(cat /run/server)"*) ;; *) exit 1 ;; esac
    step; cat /run/server - ;;
  decrypt) read -r had; [ "$had" = "$(cat /run/server)" ] && cat ;;
esac
END
fake systemctl <<'END'
#!/bin/sh
echo "$*" >> /run/units
END
fake ip <<'END'
#!/bin/sh
echo "$*" >> /run/links
END
fake wait-online <<'END'
#!/bin/sh
[ -e /run/dhcp ]
END
boot() { # boot ANSWERS [CUT]
  printf "$1" > /run/answers; : > /run/said; : > /dev/shm/console; rm -f /run/steps
  : > /run/locked
  CUT=$2 sh -c 'echo $$ > /run/program; exec /usr/lib/dracut/modules.d/91kiln-disk/disk.sh' > /dev/null 2>&1 && echo up || echo down
  cat /run/said; tr -d '\r' < /dev/shm/console | grep . || true
}`.replaceAll("\\${", "${");

/** The key that the image expects of its key server. */
export const tangThumbprint = "9gmuYlPdiWuNuwA0CmoKMYTfxpvrsPFyPnXZaPMGKOM";

/**
 * The boots of a machine, as the output of `ask`: for each boot, `up` or `down`, the program's steps, and the console.
 */
export type EncryptedMachine = (ask: string) => string[];

/** The machines of images that encrypt their disk in this way. Their files are in `dir`. */
export function encryptedMachines(dir: string, diskEncryption: "passphrase" | "tpm" | "tang"): EncryptedMachine {
  const inImage = imagesIn(dir);
  return (ask) =>
    inImage(
      { settings: settingsWith({ diskEncryption, tangServer: "http://tang", tangThumbprint }) },
      `
    ${fakes}
    sed -i 's,/dev/tpmrm0,/run/tpm,g; s,/sys/firmware/efi,/run/efi,g; s,/usr/lib/systemd/systemd-networkd-,,g' /usr/lib/dracut/modules.d/91kiln-disk/disk.sh
    file=$(mktemp ${dir}/disk-XXXXXX)
    truncate -s 60M $file
    printf '${table}' | sfdisk --quiet $file
    disk=$(losetup --find --show $file)
    trap 'partx --delete $disk; losetup --detach $disk' EXIT
    partx --add $disk
    mkfs.ext4 -q "$disk"p3
    echo "quiet root=UUID=$(blkid -p -o value -s UUID "$disk"p3) rw" > /run/cmdline
    echo shm/console > /run/consoles
    mount --bind /run/cmdline /proc/cmdline
    mount --bind /run/consoles /sys/class/tty/console/active
    ${ask}
  `,
    )
      .replaceAll(/loop\d+p/g, "p")
      .trim()
      .split("\n");
}
