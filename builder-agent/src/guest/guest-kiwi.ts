import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { BuildFailure, failureOf, noNotes, note, type Notes } from "../run/failure.ts";
import type { KiwiJob, KiwiRunner } from "../run/kiwi-runner.ts";
import type { RootTree } from "../run/root-walk.ts";
import type { StoredRoot } from "../roots/store.ts";
import type { Accel } from "../sandbox.ts";
import { checkImages } from "./image-types.ts";
import { insideGuest, makeBlankDisk, makeJobDisk } from "./job-disk.ts";
import type { GuestMachine } from "./machine.ts";
import { readGuestResult } from "./read-result.ts";
import { runGuest } from "./run-guest.ts";
import { openGuestSystem } from "./system.ts";
import { HostileTar } from "./tar.ts";

/** The resources of a build's guest, and the user that it runs as. */
export interface GuestKiwi {
  stateDir: string;
  /** The guest's system. Without it, the guest is made from this host's packages. */
  builderRoot?: StoredRoot | undefined;
  accel: Accel;
  memoryMb: number;
  /** The maximum that a build may write, which is also the size of its result disk. */
  diskBytes: number;
  user: number;
  groups: readonly number[];
  enclosed: boolean;
}

/** Runs KIWI in a guest that exists only for this build and sees nothing of this host. */
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
  const { paths, workDir, signal, input, share } = job;
  const { user, diskBytes } = guest;
  const prepared = join(workDir, "new-root.tar.zst");
  const reading = { disk: result, dir: join(workDir, "result"), target: paths.target, prepared, user, signal };
  const tree = await readGuestResult({ ...reading, maxBytes: 3 * diskBytes }).catch(blamed);
  await rm(result);
  if (share?.archive === undefined) await share?.offer((file) => rename(prepared, file));
  await checkImages(paths.target, input.imageType);
  return tree;
}

/** Fails the build, because another agent would get the same result. */
function blamed(error: unknown): never {
  if (!(error instanceof HostileTar)) throw error;
  throw new BuildFailure({ kind: "failed", reason: `${error.message}.` }, { cause: error });
}

type SaidOf = Pick<KiwiJob, "onLine" | "onPhase" | "share">;

/**
 * Collects a guest's reports. They may be false, so a success also needs the files of a success. Exported for its test.
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

  /** Throws the failure of the first step that failed. In a guest only the build itself can be at fault. */
  check(): void {
    if (!this.#codes.has("job"))
      throw failed("The build's guest ended before the build, perhaps because it ran out of memory.");
    if (!this.#notes.diskFull) this.#checkTools();
    for (const step of [...this.#beforeCreate, "create"]) {
      const code = this.#codes.get(step);
      if (code === "0") continue;
      if (this.#notes.diskFull) throw failed("The build wrote more than its disk limit allows.");
      const exit = { code: Number(code ?? -1) };
      throw new BuildFailure(failureOf(this.#notes, { exit, lastWords: this.#complaint, root: insideGuest.root }));
    }
    if (this.#codes.get("result") === "0 0" && this.#codes.get("job") === "0") return;
    throw failed("The image and its root tree together are larger than a build may be.");
  }

  /** Whether the prepared root could not be unpacked. */
  wasNotRestored(): boolean {
    const code = this.#codes.get("restore");
    return code !== undefined && code !== "0";
  }

  /** Throws if a step other than KIWI failed. Such a build is retried. */
  #checkTools(): void {
    const index = this.#codes.get("index");
    if (this.wasNotRestored()) throw new Error(`the prepared root could not be unpacked: ${this.#complaint}`);
    if (this.#job.share?.archive !== undefined || index === "0") return;
    throw new Error(`createrepo_c ended with exit code ${index}: ${this.#complaint}`);
  }

  /** The step that makes the root. */
  get #beforeCreate(): string[] {
    return [this.#job.share?.archive === undefined ? "prepare" : "restore"];
  }
}

const failed = (reason: string) => new BuildFailure({ kind: "failed", reason });
