import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

export async function sha256OfFile(file: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), digest);
  return digest.digest("hex");
}
