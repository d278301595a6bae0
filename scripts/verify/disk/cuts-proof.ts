import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../chance.ts";
import { command } from "../../launch/command.ts";
import { Complaint } from "../../launch/complaint.ts";
import { bootSeconds } from "../testdrive.ts";
import { makeHome, newDisk, startMachine, type Home } from "./machine.ts";
import { openedLine, type Place } from "./tpm-proof.ts";
import { copyPartition, decryptRoot, differencesBetween, partitionsOf, volumeKeyOf } from "./volume.ts";

const passphrase = "a passphrase of eight words or of more";
const first = /New passphrase/;
const again = /The same passphrase again/;
const begins = /The disk is being encrypted/;
const asks = /of this machine's disk:/;

export interface Cut {
  /** The moment, from the beginning of the encryption. */
  ms: number;
  /** Whether the encryption was still unfinished. */
  goesOn: boolean;
}

/** How long the encryption of an image takes here, without a power cut. */
export async function measureEncryption(place: Place, name: string): Promise<number> {
  await using home = await makeHome(place.folder, name);
  const disk = join(place.folder, `${name}.qcow2`);
  await newDisk(place.image, disk);
  await using machine = await startEncryption(place, home, disk);
  const startedAt = Date.now();
  await machine.console.says(openedLine, { within: bootSeconds });
  return Date.now() - startedAt;
}

/** Cuts the power of a machine at a moment of its encryption. Throws unless it comes up, with all files as in the image. */
export async function cutOnce(place: Place, { name, ms }: { name: string; ms: number }): Promise<Cut> {
  const { folder, signal } = place;
  await using home = await makeHome(folder, name);
  const disk = join(folder, `${name}.qcow2`);
  await newDisk(place.image, disk);
  {
    await using machine = await startEncryption(place, home, disk);
    await sleep(ms, undefined, { signal });
    await machine[Symbol.asyncDispose]();
  }
  let goesOn: boolean;
  {
    await using machine = await startMachine({ home, disk, hasTpm: false }, signal);
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
  await compareFiles(place, disk, name);
  return { ms, goesOn };
}

async function startEncryption({ signal }: Place, home: Home, disk: string) {
  const machine = await startMachine({ home, disk, hasTpm: false }, signal);
  await machine.console.says(first, { within: bootSeconds });
  await machine.console.type(passphrase);
  await machine.console.says(again, { within: bootSeconds });
  await machine.console.type(passphrase);
  await machine.console.says(begins, { within: bootSeconds });
  return machine;
}

async function compareFiles({ image, folder }: Place, disk: string, name: string): Promise<void> {
  const [raw, plain, before] = ["raw", "plain", "before"].map((what) => join(folder, `${name}.${what}`)) as [
    string,
    string,
    string,
  ];
  await command("qemu-img", ["convert", "-O", "raw", disk, raw]);
  const { root } = await partitionsOf(raw);
  await decryptRoot(raw, root, await volumeKeyOf(raw, passphrase, folder), plain);
  await copyPartition(image, (await partitionsOf(image)).root, before);
  const [count, ...differences] = (await differencesBetween(before, plain, folder)).split("\n");
  for (const file of [raw, plain, before, disk]) rmSync(file, { force: true });
  if (differences.length > 0 || !Number(count)) throw new Complaint(`Files differ:\n${differences.join("\n")}`);
}

/** The moments of the cuts: the same for the same seed, and the same length of the encryption. */
export function momentsOf(seed: number, count: number, lastMs: number): number[] {
  const chance = new Chance(seed);
  return Array.from({ length: count }, () => chance.between(0, lastMs));
}
