import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newMachine, type Machine } from "./support/machine.ts";

/** A program for UEFI without a signature, of Debian's package systemd-boot-efi: that which starts a unified kernel. */
const unsigned = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub";
const partitionAt = 1024 * 1024;

let machine: Machine;

const at = (file: string) => join(machine.folder, file);
const partition = () => `${at("disk.raw")}@@${partitionAt}`;
const sign = async (...more: string[]) => await machine.kiln(["sign", "disk.raw", ...more]);
const signedBy = (owner: string) => ["--key", `${owner}.key`, "--certificate", `${owner}.pem`];
const started = () => execFileSync("mcopy", ["-n", "-i", partition(), "::/EFI/BOOT/BOOTX64.EFI", "-"]);

function makeKey(owner: string): void {
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${owner}`, "-days", "2"];
  execFileSync("openssl", [...made, "-keyout", at(`${owner}.key`), "-out", at(`${owner}.pem`)], { stdio: "ignore" });
}

/** A raw disk with an EFI partition, in which GRUB is the program that firmware starts. */
function makeDisk(type: string): void {
  writeFileSync(at("disk.raw"), "");
  truncateSync(at("disk.raw"), 40 * 1024 * 1024);
  execFileSync("sfdisk", ["--quiet", at("disk.raw")], { input: `label: gpt\nstart=2048, size=65536, type=${type}\n` });
  execFileSync("mformat", ["-i", partition(), "-T", "65536", "-h", "16", "-s", "32", "::"]);
  execFileSync("mmd", ["-i", partition(), "::/EFI", "::/EFI/BOOT", "::/EFI/Linux"]);
  writeFileSync(at("grub.efi"), "GRUB");
  execFileSync("mcopy", ["-i", partition(), at("grub.efi"), "::/EFI/BOOT/BOOTX64.EFI"]);
}

const addKernel = () => execFileSync("mcopy", ["-i", partition(), unsigned, "::/EFI/Linux/kiln.efi"]);

/** Whether the certificate verifies the program that firmware starts. */
function isSignedBy(owner: string): boolean {
  writeFileSync(at("started.efi"), started());
  try {
    execFileSync("sbverify", ["--cert", at(`${owner}.pem`), at("started.efi")], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

beforeEach(() => {
  machine = newMachine();
  makeKey("tux");
  makeDisk("uefi");
});
afterEach(() => {
  machine[Symbol.dispose]();
});

describe("kiln sign", () => {
  it("makes the signed kernel the program that firmware starts, and adds the certificate for its menu", async () => {
    addKernel();
    expect(await sign(...signedBy("tux"))).toMatchObject({ code: 0, stdout: "disk.raw is signed.\n" });
    expect(isSignedBy("tux")).toBe(true);
    const enrolled = execFileSync("mcopy", ["-n", "-i", partition(), "::/EFI/kiln.cer", "-"]);
    const [, encoded = ""] = /-----\n(.*)\n-----/s.exec(readFileSync(at("tux.pem"), "utf8")) ?? [];
    expect(enrolled.toString("base64")).toBe(encoded.replaceAll("\n", ""));
  });

  it("signs again with another key", async () => {
    addKernel();
    makeKey("wilma");
    await sign(...signedBy("tux"));
    expect((await sign(...signedBy("wilma"))).code).toBe(0);
    expect([isSignedBy("tux"), isSignedBy("wilma")]).toEqual([false, true]);
  });

  it("changes nothing if the certificate belongs to another key", async () => {
    addKernel();
    makeKey("wilma");
    const { code, stderr } = await sign("--key", "wilma.key", "--certificate", "tux.pem");
    expect([code, stderr]).toEqual([1, expect.stringContaining("Name a key and the certificate of this key")]);
    expect(String(started())).toBe("GRUB");
  });

  it("names what the appliance needs if the disk has no kernel to sign", async () => {
    const { code, stderr } = await sign(...signedBy("tux"));
    expect([code, stderr]).toEqual([1, expect.stringContaining("add systemd-ukify and grub-efi-amd64-bin")]);
  });

  it.each([
    ["has no EFI partition", () => makeDisk("linux"), 1, "disk.raw has no EFI partition."],
    ["is no disk", () => writeFileSync(at("disk.raw"), "no disk"), 1, "sfdisk failed"],
    [
      "comes with no certificate",
      () => copyFileSync(at("tux.key"), at("tux.pem")),
      64,
      "tux.pem is not a certificate.",
    ],
  ])("explains if the file %s", async (_what, change, code, message) => {
    change();
    const ended = await sign(...signedBy("tux"));
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it("asks for the key", async () => {
    expect(await sign("--certificate", "tux.pem")).toMatchObject({ code: 64 });
  });

  it("names the packages if a program is missing", async () => {
    mkdirSync(at("few"));
    for (const program of ["kiln", "sfdisk", "mcopy", "sh"])
      symlinkSync(
        execFileSync("which", [program], { env: machine.env, encoding: "utf8" }).trim(),
        at(`few/${program}`),
      );
    addKernel();
    const { code, stderr } = await machine.kiln(["sign", "disk.raw", ...signedBy("tux")], { env: { PATH: at("few") } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("Install the packages sbsigntool, mtools and fdisk.")]);
  });
});
