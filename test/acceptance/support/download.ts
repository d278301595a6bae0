import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { expect } from "vitest";
import type { Person } from "./person.ts";

/** Downloads a build's image into `dir`, checks its bytes against the announced checksums, and returns its path. */
export async function downloadBuild({ rest }: Person, buildId: string, dir: string): Promise<string> {
  const { build } = await rest.call("GET", `/builds/${buildId}`);
  const file = join(dir, build.download_url.split("/").at(-1));
  const answer = await fetch(build.download_url);
  expect(answer.status).toBe(200);
  if (!answer.body) throw new Error("the download has no body");
  await pipeline(answer.body, createWriteStream(file));
  const md5 = createHash("md5");
  await pipeline(createReadStream(file), md5);
  expect(md5.digest("hex")).toBe(build.checksum.md5);
  return file;
}
