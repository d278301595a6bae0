import { serialOf } from "./boot.ts";
import { login } from "./image-types.ts";

/** UEFI for QEMU with settings that are not saved. */
const firmware = [
  "readonly=on,unit=0,file=/usr/share/OVMF/OVMF_CODE.fd",
  "snapshot=on,unit=1,file=/usr/share/OVMF/OVMF_VARS.fd",
].flatMap((flash) => ["-drive", `if=pflash,format=raw,${flash}`]);

/**
 * Returns a machine's output up to its login, started by either firmware. `byUefi` is what Linux reports about it.
 *
 * @param drive from `driveOf`
 */
export async function startedBy(
  which: "BIOS" | "UEFI",
  drive: string[],
): Promise<{ printed: string; byUefi: boolean }> {
  const printed = await serialOf(which === "UEFI" ? [...firmware, ...drive] : drive, login);
  // Accepts any of its lines about EFI, because a busy host may lose characters. With BIOS, it mentions only efifb,
  // which proves nothing.
  return { printed, byUefi: /\befi: |\befivars\b/.test(printed) };
}
