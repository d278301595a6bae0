import { RepodataFault } from "./fault.ts";

/** Passes at most `maxBytes` through, and fails on the first byte beyond that. */
export function atMost(maxBytes: number, what: string): TransformStream<Uint8Array, Uint8Array> {
  let seenBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seenBytes += chunk.byteLength;
      if (seenBytes > maxBytes) throw new RepodataFault("too_large", `${what} is larger than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}

/** The two ends of a decompressor. The size of the input limits the size of the output. */
export interface InflationGuard {
  compressed: TransformStream<Uint8Array, Uint8Array>;
  opened: TransformStream<Uint8Array, Uint8Array>;
}

export interface InflationLimits {
  /** Limit of the whole output. */
  maxBytes: number;
  /** Limit of output bytes per input byte, after the first `graceBytes` of output. gzip can reach 1032. */
  maxRatio: number;
  graceBytes: number;
}

/** Metadata is repetitive: a real primary.xml expands 8 to 15 times, a small one of a single project up to 60 times. */
export const metadataInflation: InflationLimits = { maxBytes: 2 ** 30, maxRatio: 200, graceBytes: 8 * 2 ** 20 };

/** Refuses a decompression bomb while it expands, not after. */
export function inflationGuard(limits: InflationLimits, what: string): InflationGuard {
  let inBytes = 0;
  let outBytes = 0;
  return {
    compressed: new TransformStream({
      transform(chunk, controller) {
        inBytes += chunk.byteLength;
        controller.enqueue(chunk);
      },
    }),
    opened: new TransformStream({
      transform(chunk, controller) {
        outBytes += chunk.byteLength;
        const allowedBytes = Math.min(limits.maxBytes, Math.max(limits.graceBytes, inBytes * limits.maxRatio));
        if (outBytes > allowedBytes) {
          throw new RepodataFault(
            "too_large",
            `${what} decompresses to more than ${allowedBytes} bytes from ${inBytes}`,
          );
        }
        controller.enqueue(chunk);
      },
    }),
  };
}
