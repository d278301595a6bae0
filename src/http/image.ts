import type { Build } from "#storage/builds";
import { answerBlob, type ReadRange } from "./blob.ts";

/** Answers with the image of a finished build. Undefined if the build has none. */
export async function answerImage(
  open: (key: string) => ReadRange,
  request: Request,
  build: Build,
): Promise<Response | undefined> {
  const { imageKey, fileName, fileSize, sha256 } = build;
  if (imageKey === null || fileName === null || fileSize === null || sha256 === null) return undefined;
  return await answerBlob(request, {
    size: fileSize,
    etag: `"${sha256}"`,
    contentType: contentTypeOf(fileName),
    fileName,
    read: open(imageKey),
  });
}

/** Answers with the delta of a finished build. Undefined if the build has none. */
export async function answerDelta(
  open: (key: string) => ReadRange,
  request: Request,
  { deltaKey, deltaSize, sha256 }: Build,
): Promise<Response | undefined> {
  if (deltaKey === null || deltaSize === null || sha256 === null) return undefined;
  return await answerBlob(request, {
    size: deltaSize,
    // Like the image, the delta never changes.
    etag: `"delta-${sha256}"`,
    contentType: "application/octet-stream",
    read: open(deltaKey),
  });
}

function contentTypeOf(fileName: string): string {
  if (fileName.endsWith(".gz")) return "application/gzip";
  if (fileName.endsWith(".iso")) return "application/x-iso9660-image";
  return "application/octet-stream";
}
