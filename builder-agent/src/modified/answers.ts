import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { maxAnswerBytes, type ModifiedAnswer, type ModifiedFilter, type ModifiedOrder } from "../contract.ts";
import type { ModifiedContent } from "../session-api.ts";
import { compare } from "./compare.ts";
import { listed } from "./listing.ts";
import type { Reading } from "./readings.ts";
import { writeTar } from "./tar-writer.ts";

export type Answered = ModifiedAnswer | ModifiedContent;

export async function answerFrom(reading: Reading, order: ModifiedOrder, signal: AbortSignal): Promise<Answered> {
  const { wanted, filter } = order;
  switch (wanted.kind) {
    case "list":
      return await list(reading, filter, { withDifferences: wanted.withDifferences, signal });
    case "data":
      return await data(reading, wanted.path);
    case "archive":
      return await archive(reading, filter, signal);
  }
}

async function list(
  { id, sides }: Reading,
  filter: ModifiedFilter,
  options: { withDifferences: boolean; signal: AbortSignal },
): Promise<Answered> {
  const comparison = await compare(sides, filter, options.signal);
  const files = await listed(sides, comparison, options);
  const { truncated, unnamed } = comparison;
  const answer: ModifiedAnswer = { kind: "list", reading: id, files, truncated, unnamed };
  if (Buffer.byteLength(JSON.stringify(answer)) <= maxAnswerBytes) return answer;
  return refused("unreadable", tooMuch);
}

const tooMuch = "There are too many changes for one answer. Request fewer paths.";

async function data({ sides: { after } }: Reading, path: string): Promise<Answered> {
  const inode = await after.at(path);
  if (inode?.type !== "f") return refused("no_file", "The session has no such file.");
  return { kind: "content", bytes: after.content(inode), size: inode.size };
}

async function archive({ sides }: Reading, filter: ModifiedFilter, signal: AbortSignal): Promise<Answered> {
  const { changes, truncated } = await compare(sides, filter, signal);
  if (truncated) return refused("unreadable", tooMuch);
  // gzip collects the small pieces of the tar.
  const packed = pipeline(Readable.from(writeTar(sides.after, changes)), createGzip({ level: 6 }), () => {});
  return { kind: "content", bytes: packed, size: null };
}

export const refused = (why: "no_file" | "unreadable" | "gone", message: string): Answered => ({
  kind: "refused",
  why,
  message: message.slice(0, 500),
});
