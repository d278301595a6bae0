import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ImageType } from "#lib/contract/index";
import { type FirmwareKeys, linuxReport } from "../../../builder-agent/src/testdrive/secure-boot.ts";
import { makeDrives } from "../../../builder-agent/src/testdrive/disk.ts";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { makeHome, startMachine } from "../disk/machine.ts";
import { bootSeconds, loginPrompt } from "../testdrive.ts";
import { changeByte, checked, type Program } from "./signed-programs.ts";

/** An image with signed programs, as a raw disk or a medium, and an empty folder to work in. */
export interface Workspace {
  image: string;
  imageType: ImageType;
  /** The keys that the firmware trusts. */
  keys: FirmwareKeys;
  folder: string;
  signal: AbortSignal;
}

/** Without a screen, GRUB writes its errors to the serial line. An installer restarts its machine. */
const changes = ["-vga", "none", "-action", "reboot=reset"];

/** Boots the image as a testdrive does. Throws unless the kernel reports Secure Boot, and the login prompt appears. */
export async function bootsSecurely(workspace: Workspace): Promise<void> {
  await using machine = await start(workspace);
  const [, state] = await machine.console.says(linuxReport, { within: bootSeconds });
  if (state !== "enabled") throw new Complaint("The kernel reports that Secure Boot is off.");
  await machine.console.says(loginPrompt, { within: bootSeconds });
}

/**
 * Throws unless the machine refuses an image in which one byte of each copy of the program has changed. Returns the
 * message.
 */
export async function refusesChanged(workspace: Workspace, program: Program): Promise<string> {
  const changed = join(workspace.folder, `changed-${basename(workspace.image)}`);
  await copyImage(workspace.image, changed);
  try {
    await changeByte(changed, program);
    return await refuses({ ...workspace, image: changed }, checked[program].refusal);
  } finally {
    await rm(changed);
  }
}

/** Throws unless the machine refuses the image with such a message, which it returns. */
export async function refuses(workspace: Workspace, refusal: RegExp): Promise<string> {
  await using machine = await start(workspace);
  const either = new RegExp(`${refusal.source}|${linuxReport.source}|${loginPrompt.source}`, "im");
  const [found] = await machine.console.says(either, { within: bootSeconds });
  if (!refusal.test(found)) throw new Complaint(`The machine starts ${workspace.image}.`);
  return found;
}

export const copyImage = async (image: string, to: string): Promise<void> => {
  await command("cp", ["--sparse=always", "--reflink=auto", image, to]);
};

async function start({ image: path, imageType, keys, folder, signal }: Workspace) {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await makeHome(folder, "machine", keys));
  const image = {
    path,
    format: path.endsWith(".iso") ? ("iso" as const) : ("raw" as const),
    [Symbol.dispose]: () => {},
  };
  const drives = await makeDrives({ image, imageType }, home.dir, signal);
  const machine = parts.use(await startMachine({ home, drives, hasTpm: true, others: changes }, signal));
  const all = parts.move();
  return { console: machine.console, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
