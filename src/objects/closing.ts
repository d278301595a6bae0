import { isSendableCode } from "#contract/index";

/** RFC 6455 §7.4.1: what a close without a code is called, which may not be sent itself. */
const noCode = 1005;

/** How a socket is closed whose other side was closed so: with the same code where that may be sent. */
export function closingLike(code: number, reason: string): { code: number; reason: string } {
  if (isSendableCode(code)) return { code, reason };
  return code === noCode ? { code: 1000, reason } : gone;
}

export const gone = { code: 1001, reason: "The other side is gone." };
