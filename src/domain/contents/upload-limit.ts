import type { Room } from "#domain/accounts/room";
import type { Refusal } from "#domain/refusal";

const mebibyte = 2 ** 20;

export interface UploadLimit {
  /** The reservation, which grows as bytes arrive. */
  room: Room;
  /** The refusal of a file that exceeds the service's own limit. */
  tooLarge: (largestMb: number) => Refusal;
}

/** Fails a stream that exceeds the service's limit or the account's remaining quota. */
export function capAt(
  { MAX_UPLOAD_MB }: Pick<Env, "MAX_UPLOAD_MB">,
  { room, tooLarge }: UploadLimit,
): TransformStream<Uint8Array, Uint8Array> {
  const largestMb = Number(MAX_UPLOAD_MB);
  let seenBytes = 0;
  return new TransformStream({
    async transform(chunk, controller) {
      seenBytes += chunk.byteLength;
      if (seenBytes > largestMb * mebibyte) throw tooLarge(largestMb);
      await room.hold(seenBytes);
      controller.enqueue(chunk);
    },
  });
}
