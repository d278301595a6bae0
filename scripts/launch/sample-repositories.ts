import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { AdminClient } from "../admin/client.ts";
import { filesBelow } from "./inputs-hash.ts";
import type { SampleDistribution } from "./sample-distribution.ts";
import type { Report } from "./progress.ts";

const prefix = "tiny";
const repositories = ["main", "updates"];
const parallelUploads = 4;

/** Uploads the two repositories of the sample distribution. A reader sees either the old ones or the new ones. */
export async function uploadSampleDistribution(
  admin: AdminClient,
  sample: SampleDistribution,
  say: Report,
): Promise<void> {
  for (const repository of repositories) await uploadRepository(admin, join(sample.path, repository), say);
  await deleteGone(admin, sample);
}

// Readers start with repomd.xml and check its signature, so these files are uploaded after all others.
const isHead = (path: string) => /\/repodata\/repomd\.xml(\.|$)/.test(path);

async function uploadRepository(admin: AdminClient, folder: string, say: Report): Promise<void> {
  const files = filesBelow(folder).map((path) => relative(join(folder, ".."), path));
  const put = async (path: string) => {
    say(path);
    await admin.putRepositoryFile(`${prefix}/${path}`, await readFile(join(folder, "..", path)));
  };
  await inParallel(
    files.filter((path) => !isHead(path)),
    put,
  );
  for (const path of files.filter(isHead).toSorted().toReversed()) await put(path);
}

async function deleteGone(admin: AdminClient, sample: SampleDistribution): Promise<void> {
  const here = repositories.flatMap((repository) => filesBelow(join(sample.path, repository)));
  const wanted = new Set(here.map((path) => `${prefix}/${relative(sample.path, path)}`));
  const there = await admin.repositoryFiles(`${prefix}/`);
  for (const { path } of there) if (!wanted.has(path)) await admin.deleteRepositoryFile(path);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: parallelUploads }, worker));
}
