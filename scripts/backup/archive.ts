import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { command } from "../launch/command.ts";

/** The content of an archive. The manifest comes first, so that it can be read without the rest. */
const contents = ["manifest.json", "secrets.json", "worker"] as const;

/** Packs a folder into a file that only its owner can read. The file is complete or does not exist. */
export async function pack(folder: string, file: string, names: readonly string[] = contents): Promise<void> {
  const draft = `${file}.${process.pid}.draft`;
  try {
    closeSync(openSync(draft, "wx", 0o600));
    await command("tar", ["--create", "--file", draft, "--directory", folder, ...names]);
    const written = openSync(draft, "r");
    fsyncSync(written);
    closeSync(written);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

export async function unpack(file: string, folder: string, names: readonly string[] = contents): Promise<void> {
  await command("tar", ["--extract", "--no-same-owner", "--file", file, "--directory", folder, ...names]);
}

export const readManifest = (file: string): Promise<string> =>
  command("tar", ["--extract", "--to-stdout", "--occurrence=1", "--file", file, contents[0]]);
