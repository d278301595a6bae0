/**
 * The program that encrypts and opens a machine's root, on loop devices. What it starts is fake: cryptsetup keeps its key in a
 * header that blkid recognises, and "encrypts" by a mark; a power cut is the end of the program at that moment.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { settingsWith } from "../support/settings.ts";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-open-disk-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const inImage = imagesIn(dir);

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
here() { dd if="$header" bs=1 skip=65536 count=64 2> /dev/null | tr -d '\0'; }
case " $* " in
  *" luksDump "*) [ "$(dd if="$2" bs=1 skip=70000 count=4 2> /dev/null)" = done ] || echo "Requirements: online-reencrypt-v2" ;;
  *" --init-only "*) step
    truncate -s 1M "$header"
    printf 'LUKS\272\276\000\002' | dd of="$header" conv=notrunc 2> /dev/null
    printf kiln-root | dd of="$header" bs=1 seek=24 conv=notrunc 2> /dev/null
    dd if="$key" of="$header" bs=1 seek=65536 conv=notrunc 2> /dev/null ;;
  *" --resume-only "*) [ "$(here)" = "$(cat "$key")" ] || exit 2
    step
    printf done | dd of="$header" bs=1 seek=70000 conv=notrunc 2> /dev/null; echo encrypted >> /run/said ;;
  *" open "*) [ "$(here)" = "$(cat "$key")" ] || exit 2
    echo "opened $(basename "$header") $(basename "\${@: -2:1}") as \${@: -1}" >> /run/said ;;
esac
END
mv /usr/bin/dd /usr/bin/real-dd
fake dd <<'END'
#!/bin/bash
case "$*" in *conv=fsync*) step ;; esac
exec real-dd "$@"
END
fake systemd-ask-password <<'END'
#!/bin/bash
echo "asked: \${@: -1}" >> /run/said
[ -s /run/answers ] || exit 1
head -n 1 /run/answers; sed -i 1d /run/answers
END
printf '#!/bin/sh\n' | fake udevadm
boot() { # boot ANSWERS [CUT]
  printf "$1" > /run/answers; : > /run/said; : > /dev/shm/console; rm -f /run/steps
  CUT=$2 sh -c 'echo $$ > /run/program; exec /usr/lib/dracut/modules.d/91kiln-disk/disk.sh' > /dev/null 2>&1 && echo up || echo down
  cat /run/said; tr -d '\r' < /dev/shm/console | grep . || true
}`.replaceAll("\\${", "${");

/** What a machine prints: for each boot, `up` or `down`, what was done, and what its console shows. */
const machine = (ask: string): string[] =>
  inImage(
    { settings: settingsWith({ diskEncryption: "passphrase" }) },
    `
    ${fakes}
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

const opened = "opened p2 p3 as kiln-root";
const asked = "asked: The passphrase of this machine's disk:";
const encrypting = "The disk is being encrypted. If the power fails, that goes on at the next boot.";

describe("a machine with a passphrase", () => {
  it("asks for a new one until it is long enough and the same twice, encrypts the root, and opens it", () => {
    const said = machine(String.raw`boot 'short\nlong enough\nother enough\nlong enough\nlong enough\n'`);
    const twice = ["asked: New passphrase for the disk of this machine:", "asked: The same passphrase again:"];
    expect(said).toEqual([
      "up",
      twice[0],
      ...twice,
      ...twice,
      "encrypted",
      opened,
      "A passphrase has at least 8 characters.",
      "These were two different passphrases.",
      encrypting,
    ]);
  });

  it("opens it at the next boot, and refuses another passphrase", () => {
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null; boot 'wrong\nlong enough\n'`;
    expect(machine(ask)).toEqual(["up", asked, asked, opened, "That is not the passphrase."]);
  });

  // In this order: make the header, copy its body, copy its head, encrypt.
  it.each([
    [1, "new"],
    [2, "new"],
    [3, "new"],
    [4, "same"],
  ])("comes up after a power cut before step %i, with a %s passphrase", (cut, passphrase) => {
    const next = passphrase === "new" ? String.raw`second one\nsecond one\n` : String.raw`wrong\nfirst one\n`;
    const ask = String.raw`boot 'first one\nfirst one\n' ${cut}; boot '${next}'`;
    const [first, ...said] = machine(ask);
    expect(first).toBe("down");
    expect(said.filter((line) => ["up", "encrypted", opened].includes(line))).toEqual(["up", "encrypted", opened]);
  });

  it("touches nothing if the place of the header is in use", () => {
    const sums = 'sha256sum < "$disk"p3';
    const ask = String.raw`mkfs.ext4 -q "$disk"p2; before=$(${sums}); boot 'long enough\nlong enough\n'
      [ "$before" = "$(${sums})" ] && echo same`;
    const said = machine(ask);
    expect(said).toEqual(expect.arrayContaining(["down", "same"]));
    expect(said.join("\n")).toContain("p2 is not the empty one");
    expect(said).not.toContain("encrypted");
  });
});
