import { constants, copyFile, open, rm, stat, type FileHandle } from "node:fs/promises";
import { z } from "zod";
import { imageFormats, ModifiedOrder, type TestdriveClaim } from "../contract.ts";
import type { DiskRoom } from "../disk-room.ts";
import type { CachedImage } from "../image-cache.ts";
import { leaseOfTestdrive } from "../lease.ts";
import { sentenceOf, type Log } from "../log.ts";
import type { Qmp } from "../testdrive/qmp.ts";
import type { WorkerApi } from "../worker-api.ts";
import { answerFrom, refused, type Answered } from "./answers.ts";
import { UnreadableDisk } from "./disk.ts";
import type { EndedDisk, EndedDisks } from "./ended-disks.ts";
import { Readings, openReading, type Reading } from "./readings.ts";
import type { WebSocket } from "ws";
import { stayConnected, parseMessage, untilClosed, watch } from "../redial.ts";

export interface SessionFilesParts {
  claim: Pick<TestdriveClaim, "testdriveId" | "token" | "requestId" | "imageType" | "seed">;
  /** The session's qcow2. */
  overlay: string;
  image: Pick<CachedImage, "path" | "format">;
  api: Pick<WorkerApi, "openModified" | "answerModified">;
  endedDisks: EndedDisks;
  room: Pick<DiskRoom, "fits">;
  /** Aborted when the agent stops. */
  signal: AbortSignal;
  log: Log;
}

type Machine = Pick<Qmp, "execute">;

/** While its overlay is copied, the machine is paused for about a second per gigabyte. */
const maxCopyBytes = 4e9;
/** The time limit for an answer that its client does not read. */
const answerMs = 10 * 60_000;

/**
 * Answers which files of its image a testdrive has changed. While the machine runs, it reads copies of the overlay.
 * Afterwards it reads the overlay itself, for as long as that is stored. Answers one order at a time.
 */
export class SessionFiles implements AsyncDisposable {
  readonly #parts: SessionFilesParts;
  /** Open from the start, because the cache may delete the file before the session's disk is deleted. */
  readonly #image: FileHandle;
  readonly #over = new AbortController();
  #overlay: { path: string; machine: Machine | null };
  readonly #readings = new Readings();
  #queue: Promise<void> = Promise.resolve();
  #copies = 0;

  private constructor(parts: SessionFilesParts, image: FileHandle) {
    this.#parts = parts;
    this.#image = image;
    this.#overlay = { path: parts.overlay, machine: null };
  }

  /** Call it before the machine starts, and `attach` when the machine runs. */
  static async open(parts: SessionFilesParts): Promise<SessionFiles> {
    return new SessionFiles(parts, await open(parts.image.path));
  }

  /** Call it when the machine runs. From then on orders are answered. */
  attach(machine: Machine): void {
    this.#overlay = { ...this.#overlay, machine };
    const { api, claim } = this.#parts;
    const lease = leaseOfTestdrive(claim);
    const signal = AbortSignal.any([this.#parts.signal, this.#over.signal]);
    const onOrder = (order: ModifiedOrder) => void this.#inOrder(() => this.#answer(order, signal));
    void holdChannel({ dial: () => api.openModified(lease), onOrder, signal }).finally(() => this.#end());
  }

  /**
   * Call it when the machine has ended. Stores its disk for a while, to answer from it, and does not wait until that
   * time is over.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const hasRun = this.#overlay.machine !== null;
    this.#overlay = { ...this.#overlay, machine: null };
    const { claim, log, signal } = this.#parts;
    // cloud-init and Ignition copy a seed to the disk, and no part of a seed may be left.
    const isOver =
      !hasRun ||
      claim.seed !== undefined ||
      signal.aborted ||
      this.#over.signal.aborted ||
      this.#obstacle() !== undefined;
    const disk = isOver ? undefined : await this.#store().catch(complaining(log));
    if (!disk) return this.#end();
    this.#overlay = { path: disk.path, machine: null };
    const over = AbortSignal.any([disk.over, signal, this.#over.signal]);
    const release = () => void this.#end().then(() => disk.release());
    if (over.aborted) release();
    else over.addEventListener("abort", release, { once: true });
  }

  async #store(): Promise<EndedDisk | undefined> {
    const { claim, endedDisks, overlay } = this.#parts;
    return await endedDisks.put(overlay, `${claim.testdriveId}.qcow2`);
  }

  /** Stops answering and closes all files. */
  #end(): Promise<void> {
    this.#over.abort();
    return this.#inOrder(async () => {
      await this.#readings.dropAll();
      await this.#image.close();
    });
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const { log } = this.#parts;
    this.#queue = this.#queue.then(work).catch(complaining(log));
    return this.#queue;
  }

  async #answer(order: ModifiedOrder, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { api, claim } = this.#parts;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    await using stack = new AsyncDisposableStack();
    const answer = await this.#answerTo(order, inTime, stack);
    const lease = { ...leaseOfTestdrive(claim), request: order.request };
    await api.answerModified(lease, answer, inTime);
  }

  /** @param used is disposed of when the answer was sent */
  async #answerTo(order: ModifiedOrder, signal: AbortSignal, used: AsyncDisposableStack): Promise<Answered> {
    const { log } = this.#parts;
    try {
      const reading = await this.#readingFor(order, used);
      return reading ? await answerFrom(reading, order, signal) : refused("gone", "The session has changed since.");
    } catch (error) {
      log("could not read modified files", { reason: sentenceOf(error) });
      const isOurs = error instanceof UnreadableDisk;
      return refused("unreadable", isOurs ? error.message : new UnreadableDisk("it is damaged").message);
    }
  }

  /** A new reading, or that of the list which the order continues. Undefined if that reading is closed. */
  async #readingFor({ wanted }: ModifiedOrder, used: AsyncDisposableStack): Promise<Reading | undefined> {
    if (wanted.kind === "data" && wanted.reading !== undefined) return this.#readings.find(wanted.reading);
    const obstacle = this.#obstacle();
    if (obstacle !== undefined) throw new UnreadableDisk(obstacle);
    const { path, machine } = this.#overlay;
    const overlay = machine ? await this.#copy(path, machine) : path;
    const reading = await openReading({ image: this.#image, overlay, isCopy: machine !== null });
    if (wanted.kind === "list") await this.#readings.hold(reading);
    else used.use(reading);
    return reading;
  }

  async #copy(overlay: string, machine: Machine): Promise<string> {
    const { endedDisks, claim, room } = this.#parts;
    const bytes = (await stat(overlay)).blocks * 512;
    const copy = await endedDisks.pathFor(`${claim.testdriveId}-${++this.#copies}.qcow2`);
    if (bytes > maxCopyBytes || !(await room.fits(bytes))) {
      throw new UnreadableDisk("it has changed too much to be read while it runs. Read it when the session is over");
    }
    try {
      await whilePaused(machine, () => copyFile(overlay, copy, constants.COPYFILE_FICLONE));
    } catch (error) {
      await rm(copy, { force: true });
      throw error;
    }
    return copy;
  }

  /** Why the session has no disk that can be compared. Undefined if it has one. */
  #obstacle(): string | undefined {
    const { claim, image } = this.#parts;
    if (imageFormats[claim.imageType].product === "installer")
      return "the disk that a medium installs to has no image to compare it with";
    if (image.format !== "raw") return "a live medium keeps its changes in memory";
    return undefined;
  }
}

const complaining = (log: Log) => (error: unknown) =>
  void log("could not read modified files", { reason: sentenceOf(error) });

const Status = z.object({ status: z.string() });

/**
 * Pauses the machine while `work` runs. QEMU then finishes its writes and updates the overlay's tables, so that the
 * file is consistent. It lacks what the guest itself has not written yet.
 */
async function whilePaused<T>(qmp: Machine, work: () => Promise<T>): Promise<T> {
  const { status } = Status.parse(await qmp.execute("query-status"));
  if (status !== "running") return await work();
  await qmp.execute("stop");
  try {
    return await work();
  } finally {
    await qmp.execute("cont");
  }
}

interface ChannelOptions {
  /** Returns a socket before it is connected. */
  dial: () => WebSocket;
  onOrder: (order: ModifiedOrder) => void;
  signal: AbortSignal;
}

/**
 * Keeps the channel to the session's object open until `signal` is aborted or the Worker no longer knows the session.
 */
async function holdChannel({ dial, onOrder, signal }: ChannelOptions): Promise<void> {
  const onText = (text: string) => {
    const order = parseMessage(ModifiedOrder, text);
    if (order) onOrder(order);
  };
  const connect = async () => {
    const socket = dial();
    watch(socket);
    const close = () => socket.terminate();
    signal.addEventListener("abort", close);
    const { end } = await untilClosed(socket, { onText });
    signal.removeEventListener("abort", close);
    return end;
  };
  await stayConnected(connect, { baseDelayMs: 500, maxDelayMs: 15_000, signal });
}
