import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync, chmodSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openReading } from "../../src/modified/readings.ts";

const sector = 512;
export const partitionAt = 2048 * sector;

/** A disk with one ext4 partition, like a build's, made without mounting. */
export interface TestDisk {
  raw: string;
  /** Runs debugfs commands on a copy of the file system. The copy then becomes an overlay like a session's. */
  overlay: (commands: string[], options?: { label?: "gpt" | "dos" }) => string;
}

type Tree = Record<string, string | { target: string | Buffer } | { bytes: Buffer } | { mode: number; text: string }>;

export function makeDisk(dir: string, tree: Tree, { label = "gpt", options = [] as string[] } = {}): TestDisk {
  const root = join(dir, "root");
  const whole: Tree = { "/etc/hostname": "kiosk\n", ...tree };
  for (const [path, content] of Object.entries(whole)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === "string") writeFileSync(file, content);
    else if ("target" in content) symlinkSync(content.target, file);
    else if ("bytes" in content) writeFileSync(file, content.bytes);
    else {
      writeFileSync(file, content.text);
      chmodSync(file, content.mode);
    }
  }
  const raw = join(dir, "disk.raw");
  execFileSync("truncate", ["-s", "48M", raw]);
  const table =
    label === "gpt" ? "label: gpt\nstart=2048, size=90000\n" : "label: dos\nstart=2048, size=90000, type=83\n";
  execFileSync("sfdisk", ["--quiet", raw], { input: table });
  const place = ["-E", `offset=${partitionAt},root_owner=0:0`];
  execFileSync("mke2fs", ["-q", "-F", "-t", "ext4", ...options, ...place, "-d", root, raw, "40000k"], {
    stdio: "pipe",
  });
  return { raw, overlay: (commands) => overlayOf(dir, raw, commands) };
}

let overlays = 0;

function overlayOf(dir: string, raw: string, commands: string[]): string {
  const changed = join(dir, "changed.raw");
  const script = join(dir, "commands");
  copyFileSync(raw, changed);
  writeFileSync(script, `${commands.join("\n")}\n`);
  execFileSync("debugfs", ["-w", "-f", script, `${changed}?offset=${partitionAt}`], { stdio: "pipe", cwd: dir });
  const overlay = join(dir, `overlay-${++overlays}.qcow2`);
  execFileSync("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", "-F", "raw", "-B", raw, changed, overlay]);
  rmSync(changed);
  return overlay;
}

/** Opens the disk for reading. Closing the disk also closes the image. */
export async function readingOf(raw: string, overlay: string) {
  const image = await open(raw);
  const reading = await openReading({ image, overlay, isCopy: false }).catch(async (error: unknown) => {
    await image.close();
    throw error;
  });
  const close = async () => {
    await reading[Symbol.asyncDispose]();
    await image.close();
  };
  return { ...reading, [Symbol.asyncDispose]: close };
}
