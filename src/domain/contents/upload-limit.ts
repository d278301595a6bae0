import { quotaExceeded } from "#domain/accounts/quota";
import type { Refusal } from "#domain/refusal";

const mebibyte = 2 ** 20;

export interface UploadLimit {
  /** The bytes that the account may still store. */
  roomBytes: number;
  /** The refusal of a file above the service's own limit. */
  tooLarge: (largestMb: number) => Refusal;
}

/** Ends a stream that is larger than the service takes, or than the account has room for. */
export function capAt(
  { MAX_UPLOAD_MB }: Pick<Env, "MAX_UPLOAD_MB">,
  { roomBytes, tooLarge }: UploadLimit,
): TransformStream<Uint8Array, Uint8Array> {
  const largestMb = Number(MAX_UPLOAD_MB);
  let seenBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seenBytes += chunk.byteLength;
      if (seenBytes > largestMb * mebibyte) throw tooLarge(largestMb);
      if (seenBytes > roomBytes) throw quotaExceeded();
      controller.enqueue(chunk);
    },
  });
}
