import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { answerBlob } from "./blob.ts";

export interface TextFile {
  text: string;
  contentType: string;
  /** The name under which clients save the text. Undefined if they do not save it. */
  fileName?: string;
}

/** Answers with a text in the same way as with a file in R2: with ranges, validators and the length. */
export async function answerText(request: Request, { text, contentType, fileName }: TextFile): Promise<Response> {
  const bytes = Buffer.from(text);
  return await answerBlob(request, {
    size: bytes.byteLength,
    etag: `"${createHash("sha256").update(text).digest("hex")}"`,
    contentType,
    ...(fileName !== undefined && { fileName }),
    read: async ({ offset, length }) => ({ body: new Blob([bytes.subarray(offset, offset + length)]).stream() }),
  });
}
