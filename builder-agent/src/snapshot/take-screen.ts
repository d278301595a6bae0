import { randomUUID } from "node:crypto";
import { chmod, open, rm } from "node:fs/promises";
import { constants } from "node:fs";
import { maxScreenBytes } from "../contract.ts";
import type { Qemu } from "../testdrive/qemu.ts";
import { userOfSession } from "../testdrive/rights.ts";
import type { SessionDir } from "../testdrive/session-dir.ts";

/** The picture of a machine's screen, as PNG. */
export async function takeScreen(
  qemu: Pick<Qemu, "execute">,
  { dir, testdriveId }: { dir: SessionDir; testdriveId: number },
): Promise<Buffer<ArrayBuffer>> {
  const screenName = `screen-${randomUUID()}.png`;
  const path = dir.file(screenName);
  await using _ = { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
  await makeFor(userOfSession(testdriveId), dir, path);
  await qemu.execute("screendump", { filename: screenName, format: "png" });
  // A guest may have taken over its QEMU.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const read = Buffer.alloc(maxScreenBytes + 1);
  const { bytesRead } = await file.read(read, 0, read.length, 0);
  if (bytesRead > maxScreenBytes) throw new Error("the picture of the screen is too large");
  return read.subarray(0, bytesRead);
}

/** Makes an empty file for QEMU, which runs as a different user and may not write the agent's files. */
async function makeFor(user: number | undefined, dir: SessionDir, path: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  if (user === undefined) return;
  await file.chown(user, user);
  await chmod(dir.path, 0o711);
}
