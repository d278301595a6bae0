import type { ArtifactName, FrozenInput } from "../contract.ts";
import { upload, wholeFile, type UploadSource } from "../upload/upload.ts";
import type { ArtifactApi, WorkerApi } from "../worker-api.ts";
import { bootServices } from "./boot-services.ts";
import type { DeltaTarget } from "./delta.ts";
import { FileStoreWriter, type FileStore } from "./file-store.ts";
import type { BuiltImage } from "./image.ts";
import { packImage, type Packable, type PackedImage } from "./pack.ts";
import type { RootTree } from "./root-walk.ts";
import { sharedSecrets } from "./shared-secrets.ts";
import type { Lease } from "../lease.ts";

/** Everything that a build uploads, on this disk. */
export interface Artifacts {
  image: PackedImage;
  store: FileStore;
}

/** The facts about the artifacts, for the log. */
export const linesAbout = ({ image, store }: Artifacts): string[] => [
  `${image.fileName} has ${image.digests.size} bytes, sha256 ${image.digests.sha256}`,
  ...(image.delta ? [`the delta from the previous image has ${image.delta.digests.size} bytes`] : []),
  `the file store has ${store.entries} entries, ${store.files.digests.size} bytes`,
];

/** The facts about a build's root, for its log and its list of packages. */
export const scanned = async (
  root: RootTree,
  { files }: Pick<FrozenInput, "files">,
  signal: AbortSignal,
): Promise<Pick<ScannedStore, "shared" | "services">> => ({
  shared: await sharedSecrets(root, signal, files),
  services: await bootServices(root, signal),
});

/** The file store of a root, with the results of `sharedSecrets` and `bootServices` for the root. */
export type ScannedStore = FileStore & { shared: string[]; services: Record<string, string[]> };

/** An image with the root that it was made from, or with the file store of that root. */
export type Deliverable = Packable & (Pick<BuiltImage, "root"> | { store: ScannedStore });

export interface DeliveryTarget {
  workDir: string;
  signal: AbortSignal;
  /** The calls that upload that artifact, until `signal` is aborted. Undefined if nothing is uploaded. */
  artifact: ((name: ArtifactName, signal: AbortSignal) => ArtifactApi) | undefined;
  /** Finds the disk of the previous image, for a delta. Undefined if no delta is wanted. */
  earlier?: DeltaTarget["earlier"] | undefined;
  /** Called when everything is packed and only uploads are left. */
  onPacked: () => void;
  /** Called with the fraction of all bytes that the Worker has. */
  onDone: (fraction: number) => void;
}

/**
 * Packs the image and writes the file store of its root, at the same time, and uploads both while they grow. If one
 * fails, the others stop. The end of `await using` waits for them.
 */
export class Delivery implements AsyncDisposable {
  readonly #target: DeliveryTarget;
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #works: Promise<unknown>[] = [];
  #store: FileStoreWriter | undefined;
  #sentBytes = 0;
  #allBytes: number | undefined;

  constructor(target: DeliveryTarget) {
    this.#target = target;
    this.#signal = AbortSignal.any([target.signal, this.#failed.signal]);
  }

  /**
   * Starts to store the contents of a root while KIWI is making the image from it. `end` waits until nothing reads
   * the root.
   */
  async storeAhead(root: RootTree): Promise<{ end(): Promise<void> }> {
    return (await this.#openStore()).packAhead(root);
  }

  async deliver(built: Deliverable, name: string): Promise<Artifacts> {
    const [image, store] = await Promise.all([
      this.#work(this.#pack(built, name)),
      this.#work("store" in built ? this.#sendStore(built.store) : this.#writeStore(built.root)),
    ]).catch((error: unknown) => this.#throwFirst(error));
    const sent = [image, store.files, store.index, ...(image.delta ? [image.delta] : [])];
    this.#allBytes = sent.reduce((sum, { digests }) => sum + digests.size, 0);
    this.#target.onPacked();
    await Promise.all(this.#works).catch((error: unknown) => this.#throwFirst(error));
    return { image, store };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failed.abort(new Error("the upload has already ended"));
    await this.#store?.[Symbol.asyncDispose]();
    await Promise.allSettled(this.#works);
  }

  async #pack(built: Deliverable, name: string): Promise<PackedImage> {
    const { workDir } = this.#target;
    const onFile = (file: UploadSource) => this.#send("image", file);
    const { earlier } = this.#target;
    const image = await packImage(built, name, { workDir, signal: this.#signal, onFile, earlier });
    if (image.delta) this.#send("delta", wholeFile(image.delta));
    if (built.format === "iso") this.#send("image", wholeFile(image));
    return image;
  }

  async #openStore(): Promise<FileStoreWriter> {
    if (this.#store) return this.#store;
    const store = await FileStoreWriter.begin({ dir: this.#target.workDir, signal: this.#signal });
    this.#send("files", store.files);
    return (this.#store = store);
  }

  async #writeStore(root: RootTree): Promise<FileStore> {
    const store = await (await this.#openStore()).finish(root);
    this.#send("files-index", wholeFile(store.index));
    return store;
  }

  async #sendStore(store: FileStore): Promise<FileStore> {
    this.#send("files", wholeFile(store.files));
    this.#send("files-index", wholeFile(store.index));
    return store;
  }

  #send(name: ArtifactName, file: UploadSource): void {
    const onSent = (bytes: number) => {
      this.#sentBytes += bytes;
      if (this.#allBytes !== undefined) this.#target.onDone(this.#sentBytes / this.#allBytes);
    };
    const { artifact } = this.#target;
    if (artifact) void this.#work(upload(artifact(name, this.#signal), file, onSent)).catch(() => {});
  }

  /** If this work fails, it stops all the other work. */
  #work<T>(work: Promise<T>): Promise<T> {
    work.catch((error: unknown) => this.#failed.abort(error));
    this.#works.push(work);
    return work;
  }

  /** Throws the first error, because the others are its consequences. */
  #throwFirst(error: unknown): never {
    this.#signal.throwIfAborted();
    throw error;
  }
}

/**
 * Has the Worker compare the image of a rebuild with the first one, and sends the index of its files. If the images are
 * equal, the indexes are compared, too, because the first agent may have listed other files. Returns the line for the
 * log.
 */
export async function compareImage(
  { image, store }: Artifacts,
  { api, lease, signal }: { api: Pick<WorkerApi, "rebuilt" | "artifact">; lease: Lease; signal: AbortSignal },
): Promise<string> {
  const isSame = await api.rebuilt(lease, image.digests, signal);
  await upload(api.artifact(lease, "files-index", signal), wholeFile(store.index), () => {});
  return isSame ? "the image is the same as the first one" : "the image differs from the first one";
}
