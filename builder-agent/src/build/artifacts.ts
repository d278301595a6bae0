import type { ArtifactName } from "../contract.ts";
import { upload, type UploadFile } from "../upload/upload.ts";
import type { ArtifactApi } from "../worker-api.ts";
import { writeFileStore, type FileStore } from "./file-store.ts";
import type { BuiltImage } from "./image.ts";
import { packImage, type PackedImage } from "./pack.ts";

/** All that a build uploads, on this disk. */
export interface Artifacts {
  image: PackedImage;
  store: FileStore;
}

/** Packs the image and writes the file store of its root, side by side; when one fails, the other is stopped and waited for. */
export async function makeArtifacts(
  built: BuiltImage,
  name: string,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
): Promise<Artifacts> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const stopOther = (error: unknown) => {
    failed.abort(error);
    throw error;
  };
  const packing = packImage(built, name, { workDir, signal: either }).catch(stopOther);
  const storing = writeFileStore(built.root, { dir: workDir, signal: either }).catch(stopOther);
  await Promise.allSettled([packing, storing]);
  failed.signal.throwIfAborted(); // the first of two errors: the second one is its consequence
  return { image: await packing, store: await storing };
}

/** Sends one after the other; `onDone` hears the part of all bytes that the Worker has. */
export async function uploadArtifacts(
  { image, store }: Artifacts,
  artifact: (name: ArtifactName) => ArtifactApi,
  onDone: (fraction: number) => void,
): Promise<void> {
  const files: Record<ArtifactName, UploadFile> = { image, files: store.files, "files-index": store.index };
  const total = Object.values(files).reduce((bytes, { digests }) => bytes + digests.size, 0);
  let sent = 0;
  const send = async (name: ArtifactName) => {
    const { size } = files[name].digests;
    await upload(artifact(name), files[name], (fraction) => onDone((sent + fraction * size) / total));
    sent += size;
  };
  await send("files-index");
  await send("files");
  await send("image");
}
