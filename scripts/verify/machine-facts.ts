import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { command } from "../launch/command.ts";
import { projectRoot } from "../launch/project.ts";

/** Facts about this machine and the programs that made the images, for a report. */
export async function machineFacts(): Promise<Map<string, string>> {
  const [commit, changed, kiwi, qemu] = await Promise.all([
    said("git", ["-C", projectRoot, "rev-parse", "--short=12", "HEAD"]),
    said("git", ["-C", projectRoot, "status", "--porcelain", "--untracked-files=no"]),
    said("kiwi-ng", ["--version"]),
    said("qemu-system-x86_64", ["--version"]),
  ]);
  const [processor] = cpus();
  return new Map([
    ["Kiln", `commit ${commit}${changed === "" ? "" : ", with changes"}`],
    ["System", systemName()],
    ["Processor", `${cpus().length} × ${processor?.model ?? "unknown"}`],
    ["Memory", `${Math.round(totalmem() / 1024 ** 3)} GiB`],
    [
      "Load at the start",
      loadavg()
        .map((load) => load.toFixed(1))
        .join(", "),
    ],
    ["KIWI on the host", kiwi],
    ["QEMU", qemu.split("\n")[0] ?? ""],
    ["Node", process.version],
  ]);
}

const said = (program: string, args: string[]): Promise<string> =>
  command(program, args).then(
    (output) => output.trim(),
    () => "not found",
  );

function systemName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? process.platform;
  } catch {
    return process.platform;
  }
}
