import { RepodataFault } from "./fault.ts";

/** Passes at most `maxBytes` through and errors on the first byte more. */
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

/** The two ends of a decompressor: how much went in bounds how much may come out. */
export interface InflationGuard {
  compressed: TransformStream<Uint8Array, Uint8Array>;
  opened: TransformStream<Uint8Array, Uint8Array>;
}

export interface InflationLimits {
  /** Most bytes that may come out. */
  maxBytes: number;
  /** Most bytes out per byte in, once `graceBytes` have come out. gzip alone can reach 1032. */
  maxRatio: number;
  graceBytes: number;
}

/** Metadata is repetitive: real primary.xml opens 8 to 15 times, small ones of one project up to 60 times. */
export const metadataInflation: InflationLimits = { maxBytes: 2 ** 30, maxRatio: 200, graceBytes: 8 * 2 ** 20 };

/** Refuses a bomb while it explodes, not after. */
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
          throw new RepodataFault("too_large", `${what} opens to more than ${allowedBytes} bytes from ${inBytes}`);
        }
        controller.enqueue(chunk);
      },
    }),
  };
}
