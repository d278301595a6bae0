import { z } from "zod";
import type { Qmp } from "../testdrive/qmp.ts";

const Status = z.object({ status: z.string() });

/**
 * Works while the machine stands still, and lets it go on. To stop, QEMU finishes what it writes and brings the overlay's
 * tables up to date, so that the file is whole; what the guest itself has not written yet is not in it.
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
