import { z } from "zod";
import type { Qmp } from "../testdrive/qmp.ts";

const Status = z.object({ status: z.string() });

/**
 * Pauses the machine while `work` runs. QEMU then finishes its writes and updates the overlay's tables, so that the file is
 * consistent. It lacks what the guest itself has not written yet.
 */
export async function whilePaused<T>(qmp: Pick<Qmp, "execute">, work: () => Promise<T>): Promise<T> {
  const { status } = Status.parse(await qmp.execute("query-status"));
  if (status !== "running") return await work();
  await qmp.execute("stop");
  try {
    return await work();
  } finally {
    await qmp.execute("cont");
  }
}
