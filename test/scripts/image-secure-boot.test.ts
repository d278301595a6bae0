/** How config.sh places the signed programs for Secure Boot, run on this host. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { imagesIn } from "./image-root.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-image-secure-boot-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inImage = imagesIn(dir);

/** The part of a 64-bit program for UEFI that says where its signatures are: its header begins at byte 128. */
function kernel(signatureBytes: number): string {
  const program = Buffer.alloc(1024);
  program.writeUInt32LE(128, 60);
  program.write("PE", 128);
  program.writeUInt32LE(900, 128 + 24 + 112 + 4 * 8);
  program.writeUInt32LE(signatureBytes, 128 + 24 + 112 + 4 * 8 + 4);
  const path = join(dir, `kernel-${signatureBytes}`);
  writeFileSync(path, program);
  return path;
}

const packages = [
  "mkdir -p /usr/lib/shim /usr/lib/grub/x86_64-efi-signed",
  "for each in shimx64.efi mmx64.efi; do echo unsigned > /usr/lib/shim/$each; echo signed $each > /usr/lib/shim/$each.signed; done",
  "echo signed grubx64.efi > /usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
];
const kernels = (...files: string[]) => files.map((file, at) => `cp ${file} /boot/vmlinuz-${at}`);

const placed = (firmware: "efi" | "uefi", ...before: string[]): string[] =>
  inImage(
    { firmware },
    "cd /boot; find efi -type f | sort | while read file; do echo $file: $(cat $file); done",
    ["mount -t tmpfs none /boot", ...packages, ...before].join("\n"),
  )
    .trim()
    .split("\n");

it("places the signed programs as grub-install does, where KIWI takes them from", () => {
  expect(placed("uefi", ...kernels(kernel(1472)))).toEqual(
    ["grubx64", "mmx64", "shimx64"].map((name) => `efi/EFI/debian/${name}.efi: signed ${name}.efi`),
  );
});

it("places nothing for an image without Secure Boot", () => {
  expect(placed("efi", ...kernels(kernel(0)))).toEqual([""]);
});

it("fails if one of the kernels is not signed", () => {
  expect(placed("uefi", ...kernels(kernel(1472), kernel(0)))[0]).toBe(
    "kiln: error: The kernel /boot/vmlinuz-1 is not signed, and a machine with Secure Boot would refuse it. Remove its package, or shim-signed.",
  );
});
