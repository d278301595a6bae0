import { constants, copyFile } from "node:fs/promises";
import { isAccessible } from "../files.ts";
import type { Machine } from "./machine.ts";
import type { SessionDir } from "./session-dir.ts";

/** The folder of Debian's package ovmf. */
const ovmf = "/usr/share/OVMF";
/** The file with the session's own UEFI variables, relative to its directory. */
const variablesName = "variables.fd";

/** Microsoft's keys, which almost every machine is sold with, or the one key that ovmf has for tests. */
export type FirmwareKeys = "ms" | "snakeoil";

/**
 * QEMU's arguments for a UEFI with Secure Boot turned on, and with these keys. Undefined if this host has no such
 * firmware.
 */
export async function makeSecureFirmware(
  dir: SessionDir,
  { keys = "ms", folder = ovmf }: { keys?: FirmwareKeys; folder?: string } = {},
): Promise<string[] | undefined> {
  const [code, variables] = [`${folder}/OVMF_CODE_4M.secboot.fd`, `${folder}/OVMF_VARS_4M.${keys}.fd`];
  const isThere = await Promise.all([code, variables].map((path) => isAccessible(path, constants.R_OK)));
  if (isThere.includes(false)) return undefined;
  await copyFile(variables, dir.file(variablesName));
  return [
    // Only code in SMM may write the variables, so that the guest cannot enroll a key.
    ["-global", "driver=cfi.pflash01,property=secure,value=on"],
    ["-drive", `if=pflash,unit=0,format=raw,readonly=on,file=${code}`],
    ["-drive", `if=pflash,unit=1,format=raw,file=${variablesName}`],
  ].flat();
}

/** The message for the owner of a session whose image boots with Secure Boot. */
export function secureBootSentence({ firmware, tpm }: Pick<Machine, "firmware" | "tpm">): string {
  if (!firmware) return "The machine boots with BIOS, without Secure Boot, because its host has no firmware for it.";
  const isOn = "Secure Boot is on in the firmware.";
  return tpm ? isOn : `${isOn} The machine has no TPM, because its host has no swtpm.`;
}

/** Linux's lines about Secure Boot, from its EFI stub and from its log. */
export const linuxReport = /secure boot (?:is )?(enabled|disabled)\b/i;
/** The number of characters to keep, which is more than such a line has. */
const keptCharacters = 200;

/** Watches the console for the kernel's own report on Secure Boot, and forwards it once, as a sentence. */
export function watchSecureBoot(say: (message: string) => void): (chunk: Buffer) => void {
  let end: string | undefined = "";
  return (chunk) => {
    if (end === undefined) return;
    end += chunk.toString("latin1");
    const [, found] = linuxReport.exec(end) ?? [];
    if (found === undefined) return void (end = end.slice(-keptCharacters));
    end = undefined;
    say(`The kernel reports that Secure Boot is ${found.toLowerCase() === "enabled" ? "on" : "off"}.`);
  };
}
