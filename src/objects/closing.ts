import { isSendableCode } from "#contract/index";

/** RFC 6455 §7.4.1: stands for a close without a code, and may not be sent. */
const noCode = 1005;

/** How to close a socket after its peer: with the same code, if that may be sent. */
export function closingLike(code: number, reason: string): { code: number; reason: string } {
  if (isSendableCode(code)) return { code, reason };
  return code === noCode ? { code: 1000, reason } : gone;
}

export const gone = { code: 1001, reason: "The other side is gone." };
