/** The service stores packages of builds, because mirrors delete old versions. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import {
  type FrozenInput,
  type FrozenPackage,
  isOwnRepository,
  pieceBytes,
  storedChecksum,
  type StoredPackage,
} from "../contract.ts";
import type { Lease } from "../lease.ts";
import { sentenceOf } from "../log.ts";
import { RemoteRefusal } from "../retry.ts";
import { readInto } from "../files.ts";
import { receive } from "../receive.ts";
import type { WorkerApi } from "../worker-api.ts";
import { packageFile } from "./package-file.ts";

export type StoreReader = Pick<WorkerApi, "listStored" | "readPiece">;
type StoreApi = StoreReader & Pick<WorkerApi, "putPiece" | "completePackage">;

/** The number of packages in transfer at the same time. More would only make each one slower. */
const atOnce = 2;

type Given = Pick<FrozenInput, "packages" | "repositories">;

/** Where a build gets packages that its mirrors no longer have, and where it puts those that it has fetched. */
export interface PackageStore {
  take(one: FrozenPackage, repositoryId: number, into: string): Promise<boolean>;
  give?(packages: Given, dir: string): void;
}

export interface StoreOfBuild<Api = StoreApi> {
  api: Api;
  lease: Lease;
  signal: AbortSignal;
  onNote: (note: string) => void;
}

/** Reads the stored packages of one build. An error here never fails the build. */
export class StoredPackageReader implements PackageStore {
  readonly #build: StoreOfBuild<StoreReader>;
  #listed: Promise<Map<string, StoredPackage>> | undefined;

  constructor(build: StoreOfBuild<StoreReader>) {
    this.#build = build;
  }

  /** Fetches a package that its mirrors no longer have. False if the service does not have it either. */
  async take(one: FrozenPackage, repositoryId: number, into: string): Promise<boolean> {
    try {
      const found = (await this.list()).get(keyOf(one, repositoryId));
      if (found?.pieces === undefined) return false;
      return await this.#read(one, { id: found.id, pieces: found.pieces }, into);
    } catch (error) {
      note(this.#build, error, "a stored package could not be read");
      return false;
    }
  }

  /** The stored packages by `keyOf`. */
  list(): Promise<Map<string, StoredPackage>> {
    const { api, lease, signal } = this.#build;
    return (this.#listed ??= api
      .listStored(lease, signal)
      .catch(noneOfOlder)
      .then((all) => new Map(all.map((one) => [`${one.repositoryId} ${one.checksum}`, one]))));
  }

  async #read(one: FrozenPackage, { id, pieces }: { id: number; pieces: number }, into: string): Promise<boolean> {
    const { api, lease, signal } = this.#build;
    const bytes = async function* () {
      for (let piece = 1; piece <= pieces; piece++) {
        const { body } = await api.readPiece(lease, { packageId: id, piece }, signal);
        yield* body ?? [];
      }
    };
    return (await receive(bytes(), into, { type: one.checksum.type })) === one.checksum.value;
  }
}

/** Reads and adds the stored packages of one build. An error here never fails the build. */
export class StoredPackageFiles implements PackageStore, AsyncDisposable {
  readonly #build: StoreOfBuild;
  readonly #over = new AbortController();
  readonly #reader: StoredPackageReader;
  #sending: Promise<void> = Promise.resolve();

  constructor(build: StoreOfBuild) {
    this.#build = { ...build, signal: AbortSignal.any([build.signal, this.#over.signal]) };
    this.#reader = new StoredPackageReader(this.#build);
  }

  /** Stops sending, because the packages will be deleted next. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#sending;
  }

  take(one: FrozenPackage, repositoryId: number, into: string): Promise<boolean> {
    return this.#reader.take(one, repositoryId, into);
  }

  /** Starts to send the packages in `dir` that the service lacks. `sent` waits for the end. */
  give({ packages, repositories }: Given, dir: string): void {
    this.#sending = this.#give({ packages, repositories }, dir).catch((error: unknown) =>
      note(this.#build, error, "could not store all packages for later builds"),
    );
  }

  /** Resolves when everything was sent or has failed. */
  sent(): Promise<void> {
    return this.#sending;
  }

  async #give({ packages, repositories }: Given, dir: string): Promise<void> {
    // The service has the files of its own repositories anyway.
    const outside = repositories.filter(({ url }) => !isOwnRepository(url));
    if (outside.length === 0) return;
    const ids = new Map(outside.map(({ alias, id }) => [alias, id]));
    const known = await this.#reader.list();
    const missing = packages.flatMap((one) => {
      const found = known.get(keyOf(one, ids.get(one.repository) ?? 0));
      return found && found.pieces === undefined ? [{ id: found.id, path: join(dir, packageFile(one)) }] : [];
    });
    const waiting = missing.values();
    let isFull = false;
    const work = async () => {
      for (const one of waiting) {
        if (isFull) return;
        if (!(await this.#send(one))) isFull = true;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (isFull) this.#build.onNote("the service stores no more packages for later builds: its limit is reached");
  }

  async #send({ id, path }: { id: number; path: string }): Promise<boolean> {
    const { api, lease, signal } = this.#build;
    await using file = await open(path);
    let piece = 0;
    for (let at = 0; ; at += pieceBytes) {
      const body = await pieceAt(file, at);
      if (body.length === 0) break;
      piece += 1;
      const sha256 = createHash("sha256").update(body).digest("hex");
      await api.putPiece(lease, { packageId: id, piece, sha256, body }, signal);
    }
    return await api.completePackage(lease, id, piece, signal);
  }
}

function note({ signal, onNote }: Pick<StoreOfBuild, "signal" | "onNote">, error: unknown, what: string): void {
  if (!signal.aborted) onNote(`${what}: ${sentenceOf(error)}`);
}

/** A Worker of an older version stores no packages. */
function noneOfOlder(error: unknown): StoredPackage[] {
  if (error instanceof RemoteRefusal && error.status === 404) return [];
  throw error;
}

const keyOf = (one: Pick<FrozenPackage, "checksum">, repositoryId: number): string =>
  `${repositoryId} ${storedChecksum(one.checksum)}`;

async function pieceAt(file: Awaited<ReturnType<typeof open>>, at: number): Promise<Uint8Array<ArrayBuffer>> {
  const { size } = await file.stat();
  const piece = new Uint8Array(Math.max(0, Math.min(pieceBytes, size - at)));
  if ((await readInto(file, piece, at)) < piece.length)
    throw new Error("a package became shorter while it was being read");
  return piece;
}
