import type { ArtifactName } from "../contract.ts";
import { upload, type UploadFile } from "../upload/upload.ts";
import type { ArtifactApi } from "../worker-api.ts";
import { writeFileStore, type FileStore } from "./file-store.ts";
import type { BuiltImage } from "./image.ts";
import { packImage, type Packable, type PackedImage } from "./pack.ts";

/** All that a build uploads, on this disk. */
export interface Artifacts {
  image: PackedImage;
  store: FileStore;
}

/** An image with the root that it was made from, or with the file store of that root. */
export type Deliverable = Packable & (Pick<BuiltImage, "root"> | { store: FileStore });

export interface Delivery {
  workDir: string;
  signal: AbortSignal;
  /** The upload of that name, which ends with its signal. */
  artifact: (name: ArtifactName, signal: AbortSignal) => ArtifactApi;
  /** All is packed; what is left is uploading. */
  onPacked: () => void;
  /** The part of all bytes that the Worker has. */
  onDone: (fraction: number) => void;
}

/**
 * Packs the image and writes the file store of its root, side by side, and sends each as soon as it is whole, one after the
 * other. When one fails, the other is stopped and waited for.
 */
export async function deliverArtifacts(built: Deliverable, name: string, delivery: Delivery): Promise<Artifacts> {
  const { workDir, onPacked, onDone } = delivery;
  const failed = new AbortController();
  const signal = AbortSignal.any([delivery.signal, failed.signal]);
  const stopOther = (error: unknown) => {
    failed.abort(error);
    throw error;
  };
  const packing = packImage(built, name, { workDir, signal });
  const storing =
    "store" in built ? Promise.resolve(built.store) : writeFileStore(built.root, { dir: workDir, signal });
  const all = Promise.all([packing, storing]).then(([image, store]) => {
    onPacked();
    return sizeOf(image) + sizeOf(store.files) + sizeOf(store.index);
  });
  const line = new UploadLine((artifact) => delivery.artifact(artifact, signal));
  const tell = (sentBytes: number) => void all.then((total) => onDone(sentBytes / total)).catch(() => {});
  const sendStore = async ({ files, index }: FileStore) => {
    await line.send("files-index", index, tell);
    await line.send("files", files, tell);
  };
  const jobs = [
    all.catch(stopOther),
    storing.then(sendStore).catch(stopOther),
    packing.then((image) => line.send("image", image, tell)).catch(stopOther),
  ];
  await Promise.allSettled(jobs);
  failed.signal.throwIfAborted(); // the first of the errors: the others are its consequences
  return { image: await packing, store: await storing };
}

const sizeOf = ({ digests }: UploadFile) => digests.size;

/** Uploads one file after the other, in the order in which they are ready: two at once would only share the line. */
class UploadLine {
  readonly #artifact: (name: ArtifactName) => ArtifactApi;
  #last: Promise<void> = Promise.resolve();
  #sentBytes = 0;

  constructor(artifact: (name: ArtifactName) => ArtifactApi) {
    this.#artifact = artifact;
  }

  async send(name: ArtifactName, file: UploadFile, onSent: (bytes: number) => void): Promise<void> {
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    this.#last = mine.promise;
    try {
      await before;
      const { size } = file.digests;
      const sentBefore = this.#sentBytes;
      await upload(this.#artifact(name), file, (fraction) => onSent(sentBefore + fraction * size));
      this.#sentBytes += size;
    } finally {
      mine.resolve();
    }
  }
}
