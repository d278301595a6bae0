import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "../kiwi/support/facts.ts";

/**
 * Configures an image from these facts, then runs `ask` in it and returns the output. `before` runs before config.sh.
 */
export type Image = (change: Partial<ImageFacts>, ask: string, before?: string) => string;

/**
 * Images with this host's programs, and with those that are unpacked into `packages`. Each has its own /etc and /var.
 * Writes to /usr are discarded, and otherwise only `dir` is writable. The network is only a loopback, and the processes
 * end with the image.
 */
export function imagesIn(dir: string, packages?: string): Image {
  let images = 0;
  return (change, ask, before = "") => {
    const image = join(dir, `image-${++images}`);
    const folder = join(image, "root/image/kiln");
    for (const [path, text] of Object.entries(descriptionFiles({ ...plain, ...change }))) {
      mkdirSync(dirname(join(image, path)), { recursive: true });
      writeFileSync(join(image, path), text.replaceAll("/image/kiln", folder), { mode: 0o755 });
    }
    // KIWI does the same before config.sh.
    const files = ["usr", "etc"].map((tree) => `cp -r ${image}/root/${tree}/. /${tree}/`).join("\n");
    const configure = `bash ${image}/config.sh > ${image}/said 2>&1 || cat ${image}/said`;
    const script = ["set -e", rootOf(dir, packages), before, files, configure, ask].join("\n");
    const enclosed = [
      "--mount",
      "--net",
      "--ipc",
      "--pid",
      "--fork",
      "--kill-child",
      "--mount-proc",
      "--",
      "bash",
      "-c",
      script,
    ];
    return execFileSync("unshare", enclosed, { encoding: "utf8" });
  };
}

const rootOf = (dir: string, packages: string | undefined) => String.raw`
  mount -t tmpfs none /mnt
  mkdir /mnt/changes /mnt/work
  mount -t overlay none -o lowerdir=${packages ? `${packages}/usr:` : ""}/usr,upperdir=/mnt/changes,workdir=/mnt/work /usr
  for own in /etc /var /run /dev/shm; do mount -t tmpfs none $own; done
  mkdir -p /var/lib /var/log /run/lock
  mkdir -m 1777 /var/tmp
  ln -s /run /var/run
  ${packages ? `cp -a ${packages}/etc/. /etc/` : ""}
  mount --bind ${dir} ${dir}
  mount -o remount,bind,ro /
  ip link set lo up
  printf 'root:x:0:0::/root:/bin/sh\nclerk:x:1234:100::/srv/clerk:/bin/sh\n' > /etc/passwd
  printf 'root:x:0:\nusers:x:100:\n' > /etc/group
  export SYSTEMD_OFFLINE=1 TMPDIR=/var/tmp
`;
