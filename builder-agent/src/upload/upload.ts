import { open } from "node:fs/promises";
import { partBytes } from "../contract.ts";
import { readInto } from "../files.ts";
import type { ArtifactApi } from "../worker-api.ts";
import { digestOfParts, type Digests } from "./checksum.ts";

/** A complete file. */
export interface UploadFile {
  path: string;
  fileName: string;
  digests: Digests;
}

export interface FilePart {
  /** Counted from 1. */
  number: number;
  sha256: string;
  bytes: number;
}

/** A file to send. It may still be written: each part is sent as soon as it is on the disk. */
export interface UploadSource {
  path: string;
  fileName: string;
  /** Undefined while the file is being written. */
  digests?: Digests;
  parts(): AsyncGenerator<FilePart>;
  /** Call it when there are no more parts. */
  whole(): Promise<Digests>;
}

/** Enough to hide the round trips; more would only make each part slower. */
const partsAtATime = 2;

/**
 * Sends the parts that the Worker lacks, and completes the artifact. A second call continues where the first stopped.
 *
 * @param onSent called with the size of each part that the Worker has
 */
export async function upload(
  artifact: ArtifactApi,
  source: UploadSource,
  onSent: (bytes: number) => void,
): Promise<void> {
  const { fileName } = source;
  const state = await artifact.open({ fileName, ...(source.digests && statedOf(source.digests)) });
  if (state.complete) return;
  if (state.partBytes !== partBytes)
    throw new Error(`the Worker requires parts of ${state.partBytes} bytes, this agent has ${partBytes}`);

  const recorded = new Map(state.parts.map((part) => [part.number, part.sha256]));
  const parts = source.parts();
  const sendParts = async () => {
    // Not `for await`: if it ended early, it would close the generator for the other worker.
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      const part = next.value;
      if (recorded.get(part.number) !== part.sha256) {
        const { number, sha256 } = part;
        await artifact.putPart({ number, sha256, body: await read(source.path, part) });
      }
      onSent(part.bytes);
    }
  };
  await Promise.all(Array.from({ length: partsAtATime }, sendParts));
  const { parts: all, ...digests } = await source.whole();
  await artifact.complete({ ...digests, partsDigest: digestOfParts(all) });
}

const statedOf = ({ size, md5, sha1, sha256 }: Digests) => ({ size, digests: { md5, sha1, sha256 } });

export const wholeFile = ({ digests, ...file }: UploadFile): UploadSource => ({
  ...file,
  digests,
  async *parts() {
    for (const [index, sha256] of digests.parts.entries()) {
      yield { number: index + 1, sha256, bytes: Math.min(partBytes, digests.size - index * partBytes) };
    }
  },
  whole: async () => digests,
});

async function read(path: string, { number, bytes }: FilePart): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await open(path);
  const part = new Uint8Array(bytes);
  if ((await readInto(file, part, (number - 1) * partBytes)) < bytes) throw new Error(`${path} is too short`);
  return part;
}
