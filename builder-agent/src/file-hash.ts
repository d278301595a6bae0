import { messageOfThread } from "./thread.ts";

const script = new URL("./file-hash-thread.ts", import.meta.url);

/** SHA-256 of a file, in hex. */
export const sha256OfFile = (file: string, signal?: AbortSignal): Promise<string> =>
  messageOfThread<string>(script, file, signal);
