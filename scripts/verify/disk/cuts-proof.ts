import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../chance.ts";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { bootSeconds } from "../testdrive.ts";
import { bootedFrom, makeHome, newDisk, startMachine, type Home } from "./machine.ts";
import { openedLine, type Workspace } from "./tpm-proof.ts";
import {
  copyFromMachine,
  copyPartition,
  decryptRoot,
  differencesBetween,
  partitionsOf,
  progressOf,
  type Progress,
  volumeKeyOf,
} from "./volume.ts";

const passphrase = "a passphrase of eight words or of more";
const first = /New passphrase/;
const again = /The same passphrase again/;
const begins = /The disk is being encrypted/;
const betweenLooksMs = 200;
const asks = /of this machine's disk:/;

/** A disk as a power cut left it. */
export interface CutDisk {
  name: string;
  disk: string;
  /** How far the encryption had got. */
  progress: Progress;
}

export interface Cut {
  /** Whether the encryption was still unfinished. */
  goesOn: boolean;
}

export interface Sampling {
  seed: number;
  /** The number of disks from any moment. */
  any: number;
  /** The number of additional disks, which have half-written blocks. */
  marked: number;
}

/**
 * Encrypts the disk of a machine, and copies it at random moments while the machine is stopped by SIGSTOP. So a copy
 * has the same bytes as the disk of a machine that was ended by SIGKILL then. Each moment is equally likely.
 */
export async function cutDisks(workspace: Workspace, { seed, any, marked }: Sampling): Promise<CutDisk[]> {
  const { image, folder, signal } = workspace;
  await using home = await makeHome(folder, "whole");
  const disk = join(folder, "whole.qcow2");
  await newDisk(image, disk);
  const { header } = await partitionsOf(image);
  const cuts = new Map<string, CutDisk>();
  const chance = new Chance(seed);
  const samples = [
    { kind: "cut", has: () => true, next: sample(chance, any) },
    { kind: "marked", has: (progress: Progress) => progress.marked, next: sample(chance, marked) },
  ];
  await using machine = await startEncryption(workspace, home, disk);
  for (;;) {
    machine.pause();
    await copyFromMachine(disk, header, `${disk}.header`);
    const progress = await progressOf(`${disk}.header`);
    for (const { kind, has, next } of samples) {
      const place = has(progress) ? next() : undefined;
      if (place === undefined) continue;
      const cut = { name: `${kind}-${place}`, disk: join(folder, `${kind}-${place}.qcow2`), progress };
      await command("cp", ["--sparse=always", disk, cut.disk]);
      cuts.set(cut.name, cut);
    }
    machine.resume();
    if (progress.finished) break;
    await sleep(betweenLooksMs, undefined, { signal });
  }
  await machine.console.says(openedLine, { within: bootSeconds });
  return [...cuts.values()];
}

/**
 * Chooses `count` items, each equally likely, without knowing how many will come (Vitter's algorithm R). For the next
 * item, returns the place from 1 to `count` where it replaces an earlier one, or nothing.
 */
export function sample(chance: Chance, count: number): () => number | undefined {
  let seen = 0;
  return () => {
    seen++;
    const place = seen <= count ? seen : chance.between(1, seen);
    return place <= count ? place : undefined;
  };
}

/** Starts a machine after its power was cut. Throws unless it comes up, with all files as in the image. */
export async function startAfterCut(workspace: Workspace, { name, disk }: CutDisk): Promise<Cut> {
  const { folder, signal } = workspace;
  await using home = await makeHome(folder, name);
  let goesOn: boolean;
  {
    await using machine = await startMachine({ home, drives: bootedFrom(disk), hasTpm: false }, signal);
    await machine.console.says(asks, { within: bootSeconds });
    const from = await machine.console.type(passphrase);
    const [line] = await machine.console.says(new RegExp(`${begins.source}|${openedLine.source}`), {
      within: bootSeconds,
      from,
    });
    goesOn = begins.test(line);
    await machine.console.says(openedLine, { within: bootSeconds, from });
    await machine[Symbol.asyncDispose]();
  }
  await compareFiles(workspace, disk, name);
  return { goesOn };
}

async function startEncryption({ signal }: Workspace, home: Home, disk: string) {
  const machine = await startMachine({ home, drives: bootedFrom(disk), hasTpm: false }, signal);
  await machine.console.says(first, { within: bootSeconds });
  await machine.console.type(passphrase);
  await machine.console.says(again, { within: bootSeconds });
  await machine.console.type(passphrase);
  await machine.console.says(begins, { within: bootSeconds });
  return machine;
}

async function compareFiles({ image, folder }: Workspace, disk: string, name: string): Promise<void> {
  const [raw, plain, before] = ["raw", "plain", "before"].map((what) => join(folder, `${name}.${what}`)) as [
    string,
    string,
    string,
  ];
  await command("qemu-img", ["convert", "-O", "raw", disk, raw]);
  // The image at its old size. It has grown since, and the new part contains no files.
  const { root } = await partitionsOf(image);
  await decryptRoot(raw, root, await volumeKeyOf(raw, passphrase, folder), plain);
  await copyPartition(image, root, before);
  const [count, ...differences] = (await differencesBetween(before, plain, folder)).split("\n");
  for (const file of [raw, plain, before, disk]) rmSync(file, { force: true });
  if (differences.length > 0 || !Number(count)) throw new Complaint(`Files differ:\n${differences.join("\n")}`);
}
