import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Changes in /usr/lib are discarded, /etc and /run are empty, and everything else except `dir` is read-only. */
const setUp = (dir: string): string => `
  mount -t tmpfs none /mnt
  mkdir /mnt/changes /mnt/work
  mount -t overlay none -o lowerdir=/usr/lib,upperdir=/mnt/changes,workdir=/mnt/work /usr/lib
  mount -t tmpfs none /usr/lib/systemd
  mount -t tmpfs none /etc
  mount -t tmpfs none /run
  mount --bind ${dir} ${dir}
  mount -o remount,bind,ro /
  cd /
`;

/** A system without systemd and with an empty /etc, for the tests of one file. */
export function bareSystem() {
  /** Files of the tests. Inside the system they have the same path. */
  const dir = mkdtempSync(join(tmpdir(), "kiln-image-programs-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Runs bash commands in it. */
  const inBareSystem = (commands: string, shell = "bash"): { output: string; status: number } => {
    const script = `set -e\n${setUp(dir)}\nset +e\n${commands}\n`;
    const args = ["--mount", "--uts", "--", "bash", "-c", script.replaceAll("SHELL", shell)];
    try {
      const output = execFileSync("unshare", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      return { output, status: 0 };
    } catch (error) {
      const { stdout, stderr, status } = error as { stdout: string; stderr: string; status: number };
      return { output: `${stdout}${stderr}`, status };
    }
  };

  /** Creates a program in `dir`. Returns its path. */
  const fileOf = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  };

  return { dir, inBareSystem, fileOf };
}
