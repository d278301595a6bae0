/** How the hook of KIWI makes a unified kernel, run on this host with a program that only prints its arguments. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-unified-kernel-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);

const ukify = `#!/bin/bash
output=\${@: -1}
printf '%s\\n' "$@" > "$output"
`;
const prepared = [
  "mount -t tmpfs none /boot",
  "touch /boot/vmlinuz-6.1.9 /boot/initrd.img-6.1.9 /boot/vmlinuz-6.1.10 /boot/initrd.img-6.1.10",
  `cat > /usr/bin/ukify <<'END'\n${ukify}END`,
  "chmod 755 /usr/bin/ukify",
];

/** The arguments of ukify. KIWI writes its file into the root of the image, which is read-only here. */
const madeFrom = (nth: number, bootOptions: string): string[] =>
  inImage(
    { hasUnifiedKernel: true },
    [
      `printf '%s' '${bootOptions}' > /run/config.bootoptions`,
      `sed -i s,/config.bootoptions,/run/config.bootoptions, ${dir}/image-${nth}/pre_disk_sync.sh`,
      `bash ${dir}/image-${nth}/pre_disk_sync.sh 2>&1 || echo "ended with $?"`,
      "[ ! -e /boot/efi ] || cat /boot/efi/EFI/Linux/kiln.efi",
    ].join("\n"),
    prepared.join("\n"),
  )
    .trim()
    .split("\n");

it("makes it from the newest kernel, its initial archive and KIWI's arguments", () => {
  const expected = [
    "build --linux /boot/vmlinuz-6.1.10 --initrd /boot/initrd.img-6.1.10 --uname 6.1.10",
    "--cmdline @/run/config.bootoptions --os-release @/etc/os-release --output /boot/efi/EFI/Linux/kiln.efi",
  ];
  expect(madeFrom(1, "rw root=UUID=0123")).toEqual(expected.join(" ").split(" "));
});

it("fails if KIWI has written no arguments", () => {
  expect(madeFrom(2, "")).toEqual(["KIWI has written no arguments for the kernel.", "ended with 1"]);
});
