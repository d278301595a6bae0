import { join } from "node:path";
import { type OwnerKey, signDisk } from "../../../cli/src/sign-disk.ts";
import { command } from "../../launch/command.ts";
import type { StepRecord } from "../step-record.ts";
import { bootsSecurely, copyImage, refuses, refusesChanged, type Workspace } from "./boots.ts";
import { checked } from "./signed-programs.ts";

/** The key of Debian's package ovmf for tests, which its firmware `snakeoil` trusts. */
const testKey = { file: "/usr/share/ovmf/PkKek-1-snakeoil", passphrase: "snakeoil" };

const { refusal } = checked["the unified kernel"];

const seen = () => "the firmware starts the kernel itself, which reports Secure Boot, and the login comes";

/**
 * Signs copies of a disk with a unified kernel. The machine trusts one key. It must start the copy that is signed with
 * it, and neither a changed one, nor one that is signed with another key, nor one without a signature.
 */
export async function verifyOwner(record: StepRecord, of: string, workspace: Workspace): Promise<void> {
  const { folder, image } = workspace;
  const own = { ...workspace, image: join(folder, "own.raw") };
  const foreign = { ...workspace, image: join(folder, "foreign.raw") };
  const refused = { of, seen: (message: string) => `refused: ${message}` };
  await copyImage(image, own.image);
  await signDisk(own.image, await trustedKey(folder));
  await record.step({ of, what: "boot, signed by its owner", seen }, () => bootsSecurely(own));
  await record.step({ ...refused, what: "boot with a changed byte in the unified kernel" }, () =>
    refusesChanged(own, "the unified kernel"),
  );
  await copyImage(image, foreign.image);
  await signDisk(foreign.image, await newKey(folder));
  await record.step({ ...refused, what: "boot, signed with another key" }, () => refuses(foreign, refusal));
  await record.step({ ...refused, what: "boot without a signature" }, () => refuses(workspace, refusal));
}

async function trustedKey(folder: string): Promise<OwnerKey> {
  const key = join(folder, "trusted.key");
  const locked = ["-in", `${testKey.file}.key`, "-passin", `pass:${testKey.passphrase}`];
  await command("openssl", ["pkey", ...locked, "-out", key]);
  return { key, certificate: `${testKey.file}.pem`, engine: undefined };
}

async function newKey(folder: string): Promise<OwnerKey> {
  const [key, certificate] = [join(folder, "other.key"), join(folder, "other.pem")];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=another owner", "-days", "2"];
  await command("openssl", [...made, "-keyout", key, "-out", certificate]);
  return { key, certificate, engine: undefined };
}
