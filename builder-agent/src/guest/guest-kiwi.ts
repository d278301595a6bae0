import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { BuildFailure } from "../build/build-failure.ts";
import { failureOf, noNotes, note, type Notes } from "../build/failure.ts";
import type { KiwiJob, KiwiRunner } from "../build/kiwi-runner.ts";
import type { RootTree } from "../build/root-walk.ts";
import type { StoredRoot } from "../roots/store.ts";
import type { Accel } from "../testdrive/accel.ts";
import { checkImages } from "./image-types.ts";
import { insideGuest, makeBlankDisk, makeJobDisk } from "./job-disk.ts";
import type { GuestMachine } from "./machine.ts";
import { readGuestResult } from "./read-result.ts";
import { runGuest } from "./run-guest.ts";
import { openGuestSystem } from "./system.ts";
import { HostileTar } from "./tar.ts";

/** What a build's guest may use, and as whom. */
export interface GuestKiwi {
  stateDir: string;
  /** Given: the guest's system is this one, and else made of this host's packages. */
  builderRoot?: StoredRoot | undefined;
  accel: Accel;
  memoryMb: number;
  /** Bytes that a build may write, and those that its result may have. */
  diskBytes: number;
  user: number;
  groups: readonly number[];
  enclosed: boolean;
}

/** KIWI in a guest that lives as long as this build: what it runs sees nothing of this host. */
export const guestKiwi = (guest: GuestKiwi): KiwiRunner => ({
  repository: () => insideGuest.packages,
  async run(job) {
    const { workDir, signal } = job;
    if (job.share?.archive === undefined) await job.fetch();
    const system = await openGuestSystem(guest.stateDir, guest.builderRoot);
    const disk = await makeJobDisk(job);
    const scratch = await makeBlankDisk(join(workDir, "scratch.raw"), guest.diskBytes);
    const result = await makeBlankDisk(join(workDir, "result.raw"), guest.diskBytes);
    const said = new Said(job);
    const machine: GuestMachine = { ...guest, cpus: guest.accel === "kvm" ? 2 : 1 };
    try {
      await runGuest({ machine, system, job: disk, scratch, result, workDir, signal, ...said.listeners });
    } finally {
      await Promise.all([scratch, disk].map((path) => rm(path, { force: true })));
    }
    if (said.wasNotRestored()) await job.share?.distrust();
    said.check();
    return await take(job, guest, result);
  },
});

async function take(job: KiwiJob, guest: GuestKiwi, result: string): Promise<RootTree> {
  const { place, workDir, signal, input, share } = job;
  const { user, diskBytes } = guest;
  const prepared = join(workDir, "new-root.tar.zst");
  const reading = { disk: result, dir: join(workDir, "result"), target: place.target, prepared, user, signal };
  const tree = await readGuestResult({ ...reading, maxBytes: 3 * diskBytes }).catch(blamed);
  await rm(result);
  if (share?.archive === undefined) await share?.offer((file) => rename(prepared, file));
  await checkImages(place.target, input.imageType);
  return tree;
}

/** Another agent would be given the same. */
function blamed(error: unknown): never {
  if (!(error instanceof HostileTar)) throw error;
  throw new BuildFailure({ kind: "failed", reason: `${error.message}.` }, { cause: error });
}

type SaidOf = Pick<KiwiJob, "onLine" | "onPhase" | "share">;

/**
 * What a guest has told, until it can be judged; exported for its test. It may be untrue: a good end is believed only with
 * the files of one.
 */
export class Said {
  readonly #job: SaidOf;
  readonly #codes = new Map<string, string>();
  #notes: Notes = noNotes;
  #complaint = "";

  constructor(job: SaidOf) {
    this.#job = job;
  }

  readonly listeners = {
    onLine: (line: string) => {
      this.#notes = note(this.#notes, line);
      this.#job.onLine(line);
    },
    onStatus: (word: string, rest: string) => {
      if (word === "complaint") this.#complaint = rest;
      else this.#codes.set(word, rest);
      if (this.#beforeCreate.includes(word) && rest === "0") {
        this.#notes = noNotes;
        this.#job.onPhase("Creating the image");
      }
    },
  };

  /** Throws the reason of the first step that did not end well. Whatever a guest ran into was of its own build's making. */
  check(): void {
    if (!this.#codes.has("job"))
      throw failed("The build's machine ended before the build, perhaps because memory ran out.");
    if (!this.#notes.diskFull) this.#checkTools();
    for (const step of [...this.#beforeCreate, "create"]) {
      const code = this.#codes.get(step);
      if (code === "0") continue;
      if (this.#notes.diskFull) throw failed("The build wrote more than it may.");
      const exit = { code: Number(code ?? -1) };
      throw new BuildFailure(failureOf(this.#notes, { exit, lastWords: this.#complaint, root: insideGuest.root }));
    }
    if (this.#codes.get("result") === "0 0" && this.#codes.get("job") === "0") return;
    throw failed("The image and what it was made from are larger than a build may be.");
  }

  /** Whether an archive was given that could not be unpacked. */
  wasNotRestored(): boolean {
    const code = this.#codes.get("restore");
    return code !== undefined && code !== "0";
  }

  /** What is not KIWI's may be tried again. */
  #checkTools(): void {
    const index = this.#codes.get("index");
    if (this.wasNotRestored()) throw new Error(`the prepared root could not be unpacked: ${this.#complaint}`);
    if (this.#job.share?.archive !== undefined || index === "0") return;
    throw new Error(`createrepo_c ended with exit code ${index}: ${this.#complaint}`);
  }

  /** The step after which there is a prepared root. */
  get #beforeCreate(): string[] {
    return [this.#job.share?.archive === undefined ? "prepare" : "restore"];
  }
}

const failed = (reason: string) => new BuildFailure({ kind: "failed", reason });
