import { z } from "zod";
import type { QmpEvent } from "./qmp.ts";

const BlockIoError = z.object({
  event: z.literal("BLOCK_IO_ERROR"),
  data: z.object({ operation: z.string(), nospace: z.boolean().optional(), reason: z.string().optional() }),
});

/** Why a session cannot go on whose disk has refused a write: a sentence for its owner. undefined: the event is none of that. */
export function diskFailureOf(event: QmpEvent, diskBytes: number): string | undefined {
  const parsed = BlockIoError.safeParse(event);
  if (!parsed.success || parsed.data.data.operation !== "write") return undefined;
  const { nospace, reason = "no reason given" } = parsed.data.data;
  if (nospace) return "The disk of the builder agent is full.";
  // EFBIG, in the words of the C library: the limit that QEMU was started with.
  if (reason === "File too large")
    return `The testdrive wrote more than the ${Math.round(diskBytes / 1e6)} MB that it may.`;
  return `The disk of the builder agent does not take what the testdrive writes: ${reason}.`;
}
