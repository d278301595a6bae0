import { open, type FileHandle } from "node:fs/promises";
import { writeAll } from "../files.ts";

const maxSerialLogBytes = 1024 * 1024;

/** Writes a guest's serial console to a file. When the file is full, its older half is dropped. */
export async function keepSerialLog(
  path: string,
  console: AsyncIterable<Buffer>,
  maxBytes = maxSerialLogBytes,
): Promise<void> {
  await using file = await open(path, "w+", 0o600);
  let size = 0;
  for await (const chunk of console) {
    const bytes = lastOf(chunk, maxBytes / 2);
    if (size + bytes.length > maxBytes) size = await dropOlderHalf(file, size);
    await writeAll(file, bytes, size);
    size += bytes.length;
  }
}

async function dropOlderHalf(file: FileHandle, size: number): Promise<number> {
  const end = Buffer.alloc(Math.floor(size / 2));
  await file.read(end, 0, end.length, size - end.length);
  await writeAll(file, end, 0);
  await file.truncate(end.length);
  return end.length;
}

const lastOf = (chunk: Buffer, maxBytes: number) => chunk.subarray(Math.max(0, chunk.length - Math.floor(maxBytes)));
