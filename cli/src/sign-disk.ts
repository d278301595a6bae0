import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removableLoaderPath, unifiedKernelPath } from "../../src/lib/kiwi/unified-kernel.ts";
import { Complaint } from "./complaint.ts";
import { readText } from "./files.ts";

/** The key of a disk's owner. */
export interface OwnerKey {
  /** A file in PEM, or the address of a key that `engine` knows. */
  key: string;
  /** The file of its certificate, in PEM. */
  certificate: string;
  /** OpenSSL's engine that has the key, such as pkcs11. */
  engine: string | undefined;
}

/** Where firmware's menu finds the certificate. */
const certificatePath = "EFI/kiln.cer";

/**
 * Signs the unified kernel of a raw disk, and makes the signed copy the program that firmware starts. The unsigned one
 * stays, so that it can be signed again. The disk does not change before the copy is signed.
 */
export async function signDisk(disk: string, { key, certificate, engine }: OwnerKey): Promise<{ certificate: string }> {
  const { raw: encoded, fingerprint256 } = readCertificate(certificate);
  const partition = `${disk}@@${await efiPartitionAt(disk)}`;
  using folder = temporaryFolder();
  const [kernel, signed, enrolled] = [folder.at("kernel.efi"), folder.at("signed.efi"), folder.at("owner.cer")];
  await copyKernel(disk, partition, kernel);
  const how = [...(engine === undefined ? [] : ["--engine", engine]), "--key", key, "--cert", certificate];
  await run("sbsign", [...how, "--output", signed, kernel], "Name a key and the certificate of this key, both in PEM.");
  writeFileSync(enrolled, encoded);
  await put(partition, { from: enrolled, to: certificatePath });
  await put(partition, { from: signed, to: removableLoaderPath });
  return { certificate: fingerprint256 };
}

function readCertificate(file: string): X509Certificate {
  const next = "Name a certificate in PEM, as `openssl req -x509` makes it.";
  try {
    return new X509Certificate(readText(file, next));
  } catch (error) {
    if (error instanceof Complaint) throw error;
    throw new Complaint("misused", `${file} is not a certificate.`, next);
  }
}

/** The type of an EFI partition (UEFI specification, 5.3.3). */
const efiPartition = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B";

/** The first byte of a disk's EFI partition. */
async function efiPartitionAt(disk: string): Promise<number> {
  const next =
    "Name a raw disk (oem) that you have downloaded and unpacked. `qemu-img convert -O raw` makes one of others.";
  const table: { partitions?: { type: string; start: number }[]; sectorsize?: number } = JSON.parse(
    await run("sfdisk", ["--json", disk], next),
  ).partitiontable;
  const found = table.partitions?.find(({ type }) => type === efiPartition);
  if (found) return found.start * (table.sectorsize ?? 512);
  throw new Complaint("refused", `${disk} has no EFI partition.`, next);
}

async function copyKernel(disk: string, partition: string, to: string): Promise<void> {
  const next = `${disk} has no kernel to sign: add systemd-ukify and grub-efi-amd64-bin to the appliance, and build it again.`;
  await run("mcopy", ["-n", "-i", partition, `::/${unifiedKernelPath}`, to], next);
}

const put = async (partition: string, { from, to }: { from: string; to: string }): Promise<void> => {
  await run("mcopy", ["-o", "-i", partition, from, `::/${to}`], "Unpack the disk again, because it may be damaged.");
};

/** Returns the output of a program. @param next what to do if it fails */
async function run(program: string, args: readonly string[], next: string): Promise<string> {
  // A key may have a passphrase, for which the program asks.
  const child = spawn(program, args, { stdio: ["inherit", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (output += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (errors += piece));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", () => reject(notInstalled(program)));
    child.on("close", resolve);
  });
  if (code === 0) return output;
  throw new Complaint("refused", `${program} failed: ${errors.trim()}`, next);
}

const notInstalled = (program: string) =>
  new Complaint("refused", `${program} is not installed here.`, "Install the packages sbsigntool, mtools and fdisk.");

function temporaryFolder(): Disposable & { at: (name: string) => string } {
  const path = mkdtempSync(join(tmpdir(), "kiln-sign-"));
  return { at: (name) => join(path, name), [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
