/** Builds the formats of a job in this process, whose environment `same.ts` has chosen, and leaves their files in a folder. */
import { cpSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { FrozenInput, type ImageType } from "../../builder-agent/src/contract.ts";
import { outputOf } from "../../builder-agent/src/process.ts";
import { writeFileStore } from "../../builder-agent/src/run/file-store.ts";
import type { BuiltImage } from "../../builder-agent/src/run/image.ts";
import { packImage } from "../../builder-agent/src/run/pack.ts";
import { buildHere } from "../../test/acceptance/support/local-build.ts";

/** The build of one process. */
export interface Job {
  /** The frozen input as JSON. */
  input: string;
  /** The formats that are made from the same KIWI image. */
  formats: ImageType[];
  /** The address of the packages. */
  url: string;
  /** The directory of the build. */
  stateDir: string;
  /** The directory for the results: one file for each format, named after it, and the index of the root. */
  into: string;
}

process.umask(0o022); // as in the agent, whatever the umask of its parent
const signal = AbortSignal.timeout(4 * 3_600_000);
const [file = ""] = process.argv.slice(2);
const job = JSON.parse(readFileSync(file, "utf8")) as Job;
mkdirSync(job.into, { recursive: true });
const input = FrozenInput.parse(JSON.parse(readFileSync(job.input, "utf8")));
await buildHere(input, { stateDir: job.stateDir, url: job.url }, async (built, workDir) => {
  const { index } = await writeFileStore(built.root, { dir: workDir, signal });
  cpSync(index.path, join(job.into, "index"));
  for (const format of job.formats) await packAs(format, built, workDir);
});

/** Packs a copy, because packing moves or deletes its parts. */
async function packAs(format: ImageType, built: BuiltImage, workDir: string): Promise<void> {
  const dir = join(workDir, format);
  mkdirSync(dir);
  const copies = Object.entries(built).filter(([name]) => ["image", "kernel", "initrd"].includes(name));
  const copied: Record<string, string> = {};
  for (const [name, path] of copies) {
    copied[name] = join(dir, name);
    await outputOf("cp", [String(path), join(dir, name)], signal);
  }
  const name = input.imageName.replace(/[^.]*$/, format);
  const packed = await packImage({ ...built, ...copied, imageType: format } as BuiltImage, name, {
    workDir: dir,
    signal,
  });
  renameSync(packed.path, join(job.into, format));
}
