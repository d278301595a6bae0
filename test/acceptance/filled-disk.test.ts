import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { enclosed } from "../../builder-agent/src/process.ts";
import { kiwiEnvironment, makeKiwiPaths } from "../../builder-agent/src/run/kiwi.ts";

// The shims fill a disk on a real loop device, with the commands that KIWI runs, from a root with every kind of file.

const folder = mkdtempSync(join(tmpdir(), "filled-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sourceDate = 1_700_000_000;

/** A root with each kind of file, made in this order. */
function makeRoot(names: readonly string[]): string {
  const root = mkdtempSync(join(folder, "root-"));
  for (const name of names) sh(kinds[name] ?? "false", root);
  sh(
    "touch -h -d @1600000000 old; mkdir run tmp image; chmod 1777 tmp; touch run/pid tmp/.hidden image/config.xml",
    root,
  );
  return root;
}

const kinds: Readonly<Record<string, string>> = {
  old: "echo old > old; chown 1234:70000 old; chmod 6755 old",
  linked: "echo linked > linked; ln linked again; mkdir d; ln linked d/third",
  symbolic: `ln -s target short; ln -s ${"x".repeat(200)} long`,
  devices: "mknod null c 1 3; mknod disk b 259 70000; mkfifo fifo",
  sparse: "truncate -s 5M sparse; echo end >> sparse",
  attributes: `touch ping; mkdir acl; python3 -c '
from os import setxattr
from struct import pack
# cap_net_raw, permitted and effective
setxattr("ping", "security.capability", pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
setxattr("ping", "user.note", b"text")
# user::rwx user:1000:rwx group::r-x mask::rwx other::r-x
entries = [(1, 7, 0xffffffff), (2, 7, 1000), (4, 5, 0xffffffff), (16, 7, 0xffffffff), (32, 5, 0xffffffff)]
setxattr("acl", "system.posix_acl_access", pack("<I", 2) + b"".join(pack("<HHI", *entry) for entry in entries))'`,
  named: "mkdir -p 'ä ö'; echo 1 > 'ä ö/Z'; echo 2 > 'ä ö/a'; for i in $(seq 300); do echo $i > 'ä ö'/file-$i; done",
};

const sh = (script: string, cwd: string, env: Record<string, string> = {}, args: string[] = []) =>
  execFileSync(...enclosed("sh", ["-euc", script, "sh", ...args]), {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
    stdio: "pipe",
  });

/** The commands that KIWI NG runs. A boot loader writes while the root is mounted in place of the disk. */
const kiwi = `
  disk=$1 root=$2
  truncate -s 64M "$disk"
  printf 'label: dos\\nlabel-id: 0x1\\nstart=2048, type=83\\n' | sfdisk --quiet "$disk"
  loop=$(losetup --find --show "$disk")
  trap 'partx --delete "$loop"; losetup --detach "$loop"' EXIT
  partx --add "$loop"
  mkdir first second
  mkfs.ext4 -q -L ROOT "$loop"p1
  mount "$loop"p1 first
  rsync --archive --exclude /image --exclude '/run/*' --exclude '/tmp/*' "$root/" first
  mount "$loop"p1 second
  findmnt --noheadings --output SOURCE --mountpoint second | grep -q "$loop"p1
  (umask 022; echo loader > second/loader)
  umount second
  umount first
`;

/** The commands for the partition of a directory. KIWI NG gives it the mode of an empty file system again. */
const kiwiPartition = kiwi
  .replace("rsync --archive --exclude /image --exclude '/run/*' --exclude '/tmp/*'", "rsync --archive")
  .replace('mount "$loop"p1 second', 'chmod 755 first; mount "$loop"p1 second');

interface Filled {
  disk: string;
  sha256: string;
}

async function fill(
  root: string,
  options: { seed?: string; umask?: string; TZ?: string; commands?: string } = {},
): Promise<Filled> {
  const dir = mkdtempSync(join(folder, "work-"));
  const disk = join(dir, "disk.raw");
  const { seed = "seed", umask = "022", TZ = "UTC", commands = kiwi } = options;
  const paths = await makeKiwiPaths(dir);
  const reproducible = {
    E2FSPROGS_FAKE_TIME: `${sourceDate}`,
    SOURCE_DATE_EPOCH: `${sourceDate}`,
    KILN_REPRODUCIBLE_SEED: seed,
  };
  sh(`umask ${umask}; ${commands}`, dir, { ...kiwiEnvironment(paths), ...reproducible, TZ }, [disk, root]);
  return { disk, sha256: createHash("sha256").update(readFileSync(disk)).digest("hex") };
}

/** Everything that is visible of the files on a mounted disk. */
const listed = ({ disk }: Filled): string =>
  sh(
    `mkdir -p seen; mount -o ro,loop,offset=1048576 "$1" seen; cd seen
    find . -printf '%P %y %m %U %G %n %s %l %T@ %C@\\n' | sort
    find . -type c -o -type b | sort | xargs stat -c '%n %t:%T'
    for file in ping acl; do
      python3 -c 'import os, sys
for name in sorted(os.listxattr(sys.argv[1])): print(sys.argv[1], name, os.getxattr(sys.argv[1], name).hex())' $file
    done
    stat -c %b sparse; tail -c 4 sparse; cat loader 'ä ö/a'`,
    mkdtempSync(join(folder, "look-")),
    {},
    [disk],
  );

/** The owner and mode of the topmost directory. */
const topmost = (disk: string) =>
  sh(
    `mkdir seen; mount -o ro,loop,offset=1048576 "$1" seen; stat -c '%u:%g %a' seen`,
    mkdtempSync(join(folder, "look-")),
    {},
    [disk],
  );

describe("a disk that is filled without mounting it", () => {
  const names = Object.keys(kinds);

  it("is the same, byte for byte, whatever differs where it is made", async () => {
    const one = await fill(makeRoot(names));
    const other = await fill(makeRoot(names.toReversed()), { umask: "077", TZ: "Asia/Tokyo" });

    expect(other.sha256).toBe(one.sha256);
  });

  it("is packed into the same archive, whether or not someone has read it", async () => {
    const { disk } = await fill(makeRoot(names));
    const archive = () => sh('tar --create --sparse --format=gnu "$1" | sha256sum', folder, {}, [disk]);
    // Removes the disk from the page cache.
    sh('sync "$1"; dd if="$1" iflag=nocache count=0 status=none', folder, {}, [disk]);
    const unread = archive();
    readFileSync(disk);

    expect(archive()).toBe(unread);
  });

  it("differs for another input", async () => {
    const root = makeRoot(names);

    expect((await fill(root, { seed: "another" })).sha256).not.toBe((await fill(root)).sha256);
  });

  it("has each file as it was, and no time later than the sources", async () => {
    const disk = await fill(makeRoot(names));
    const seen = listed(disk);

    expect(sh('e2fsck -fn "$1?offset=1048576"', folder, {}, [disk.disk])).toContain("ROOT: ");
    for (const line of [
      `old f 6755 1234 70000 1 4  1600000000.0000000000 ${sourceDate}.0000000000`,
      `d/third f 644 0 0 3 7  ${sourceDate}.0000000000 ${sourceDate}.0000000000`,
      `tmp d 1777 0 0 2 1024  ${sourceDate}.0000000000 ${sourceDate}.0000000000`,
      `short l 777 0 0 1 6 target ${sourceDate}.0000000000 ${sourceDate}.0000000000`,
      "./null 1:3",
      "./disk 103:11170",
      "ping security.capability 0100000200200000000000000000000000000000",
      "ping user.note 74657874",
      // The attribute names user 1000 (0x03e8) and the user's permissions.
      "acl system.posix_acl_access 0200000001000700ffffffff02000700e803000004000500ffffffff",
      "loader",
    ])
      expect(seen).toContain(line);
    expect(seen).toMatch(/^fifo p 644 /m);
    expect(seen).toMatch(new RegExp(`^long l 777 0 0 1 200 x{200} `, "m"));
    expect(seen).toMatch(/\n2\nend\nloader\n2\n$/);
    expect(seen).not.toMatch(/^(image|run\/|tmp\/|changes|work)/m);
  });

  it.each([
    ["mke2fs", ""],
    ["the kernel", "; seq 10001 | xargs touch"],
  ])("has the owner and mode of a partition's directory, filled by %s", async (_by, more) => {
    const root = makeRoot(["old"]);
    sh(`chown 1234:70000 .; chmod 2770 .${more}`, root);
    const { disk } = await fill(root, { commands: kiwiPartition });

    expect(topmost(disk)).toBe("1234:70000 2770\n");
    expect(sh('e2fsck -fn "$1?offset=1048576"', folder, {}, [disk])).toContain("ROOT: ");
  });

  it("has / as any image has it, even if the root was made by another user", async () => {
    const root = makeRoot(["old"]);
    sh("chown 1234:70000 .; chmod 700 .", root);

    expect(topmost((await fill(root, { umask: "077" })).disk)).toBe("0:0 755\n");
  });

  it("ends the build where KIWI looks, if the root is too large", async () => {
    const root = makeRoot(["old"]);
    writeFileSync(join(root, "large"), Buffer.alloc(70_000_000, 1));

    await expect(fill(root)).rejects.toThrow(/rsync: .*No space left on device/);
  });

  it("leaves no disk that is not filled", async () => {
    const root = makeRoot(["old"]);
    // There are enough blocks for the files, but too few inodes.
    sh("for d in $(seq 40); do mkdir $d; (cd $d; seq 500 | xargs touch); done", root);

    await expect(fill(root)).rejects.toThrow(/inode/);
  });
});
