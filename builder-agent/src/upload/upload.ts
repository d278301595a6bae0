import { openAsBlob } from "node:fs";
import { partBytes } from "../contract.ts";
import type { ArtifactApi } from "../worker-api.ts";
import { digestOfParts, type Digests } from "./checksum.ts";

export interface UploadFile {
  path: string;
  fileName: string;
  digests: Digests;
}

/** Enough to hide the round trips; more would only make each part slower. */
const partsAtATime = 2;

/** Sends what the Worker does not have yet and completes the artifact. Called again, it goes on where it was. */
export async function upload(
  artifact: ArtifactApi,
  file: UploadFile,
  onDone: (fraction: number) => void,
): Promise<void> {
  const { size, parts, md5, sha1, sha256 } = file.digests;
  const state = await artifact.open({ size, fileName: file.fileName });
  if (state.complete) return;
  if (state.partBytes !== partBytes)
    throw new Error(`the Worker wants parts of ${state.partBytes} bytes, ours have ${partBytes}`);

  const recorded = new Map(state.parts.map((part) => [part.number, part.sha256]));
  const missing = parts.flatMap((digest, index) => (recorded.get(index + 1) === digest ? [] : [index + 1]));
  const bytesOf = (number: number) => Math.min(size, number * partBytes) - (number - 1) * partBytes;
  let doneBytes = size - missing.reduce((sum, number) => sum + bytesOf(number), 0);

  const blob = await openAsBlob(file.path);
  const sendParts = async () => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const from = (number - 1) * partBytes;
      const body = blob.slice(from, from + bytesOf(number));
      await artifact.putPart({ number, sha256: parts[number - 1] ?? "", body });
      doneBytes += bytesOf(number);
      onDone(doneBytes / size);
    }
  };
  await Promise.all(Array.from({ length: partsAtATime }, sendParts));
  await artifact.complete({ size, partsDigest: digestOfParts(parts), md5, sha1, sha256 });
}
