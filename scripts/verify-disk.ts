/** Verifies an image whose machines encrypt their disk, in emulated machines, and writes a report. */
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { print } from "./launch/progress.ts";
import { projectRoot } from "./launch/project.ts";
import { type Cut, type CutDisk, cutDisks, startAfterCut } from "./verify/disk/cuts-proof.ts";
import { proveTang, tangAddress } from "./verify/disk/tang-proof.ts";
import { type Workspace, proveTpms } from "./verify/disk/tpm-proof.ts";
import { printedEnding } from "./verify/disk/machine.ts";
import { verifyImage } from "./verify/report-file.ts";
import type { StepRecord } from "./verify/step-record.ts";
import { twoAtATime } from "./verify/two-at-a-time.ts";

const usage = `npm run verify:disk -- IMAGE [options]

Copies the disk of a machine while it encrypts it, as power cuts would leave it, starts a machine from each copy, compares all
files with those of IMAGE, and writes a report. IMAGE is a raw disk (oem) with disk_encryption. Needs root.

  --tpm N          N machines with a TPM each, instead of power cuts
  --tang KEYS      one machine with the key server ${tangAddress}, instead of power cuts: KEYS is the folder of its keys
  --cuts N         the number of copies (default: 12)
  --marked N       the number of copies with half-written blocks, in addition (default: 3)
  --seed N         the seed of their moments (default: 1)
  --report FILE    where the report goes (default: docs/verified/encrypted-disks.md)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tpm: { type: "string" },
    tang: { type: "string" },
    cuts: { type: "string", default: "12" },
    marked: { type: "string", default: "3" },
    seed: { type: "string", default: "1" },
    report: { type: "string", default: join(projectRoot, "docs/verified/encrypted-disks.md") },
  },
});

const of = "Power cuts";
const seenWithTang = () => "it opens by itself while the key server runs, and then only with its recovery key";
const seenCopies = (disks: CutDisk[]) => `the encryption ended, with ${disks.length} copies`;
const seenAfter = ({ goesOn }: Cut) => `the encryption ${goesOn ? "went on" : "was finished"}, and all files are there`;

const [image] = positionals;
if (image === undefined) print(usage);
else await verify(resolve(image));

async function verify(path: string): Promise<void> {
  const verifying = { title: "Encrypted disks", command: "verify:disk", report: values.report, leave };
  await verifyImage(verifying, async ({ record, ...here }) => {
    const workspace = { image: path, ...here };
    if (values.tang !== undefined) await withTang(record, workspace, resolve(values.tang));
    else if (values.tpm !== undefined) await proveTpms(record, workspace, Number(values.tpm));
    else await withCuts(record, workspace);
  });
}

/** Removes the folder, except for the machines' output if one of them failed. */
function leave(folder: string, failed: boolean): void {
  for (const name of readdirSync(folder))
    if (!failed || !name.endsWith(printedEnding)) rmSync(join(folder, name), { recursive: true, force: true });
  if (failed) print(`What the machines printed is in ${folder}`);
  else rmSync(folder, { recursive: true });
}

async function withTang(record: StepRecord, workspace: Workspace, keys: string): Promise<void> {
  const step = { of: "Key server", what: "three boots of one machine", seen: seenWithTang };
  await record.step(step, () => proveTang(workspace, keys));
}

async function withCuts(record: StepRecord, workspace: Workspace): Promise<void> {
  const sampling = { seed: Number(values.seed), any: Number(values.cuts), marked: Number(values.marked) };
  const what = `copy the disk at random moments of seed ${values.seed}`;
  const disks = (await record.step({ of, what, seen: seenCopies }, () => cutDisks(workspace, sampling))) ?? [];
  await twoAtATime(disks, (disk) => startOne(record, workspace, disk));
}

async function startOne(record: StepRecord, workspace: Workspace, disk: CutDisk): Promise<void> {
  const { bytes, marked } = disk.progress;
  const much = bytes === Infinity ? "everything" : `${Math.round(bytes / 1e6)} MB`;
  const what = `${disk.name}: ${much} encrypted${marked ? ", blocks half written" : ""}`;
  await record.step({ of, what, seen: seenAfter }, () => startAfterCut(workspace, disk));
}
