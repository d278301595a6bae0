import { spawn } from "node:child_process";
import { chmod, chown, mkdir } from "node:fs/promises";
import { killGroup } from "../process.ts";
import { untilConnected } from "./qmp.ts";
import { nobody } from "./rights.ts";
import type { SessionDir } from "./session-dir.ts";
import { environment, sandboxedAsNobody } from "./session-sandbox.ts";

export const tpmProgram = "swtpm";
/** Relative to the session's directory. */
const folderName = "tpm";
const socketName = "swtpm.sock";
/** The state has only some kilobytes. */
const maxFileBytes = 1024 * 1024;
const startTimeoutMs = 20_000;

/** A TPM 2.0 for one machine, emulated by swtpm. Dispose of it to end the process. */
export interface Tpm extends AsyncDisposable {
  /** QEMU's arguments for it. */
  args: string[];
}

/**
 * Starts the TPM of a session, which is new in a new session. Its state is in a folder of the session's directory, and
 * it sees nothing else. Undefined if this host has no swtpm.
 */
export async function startTpm(dir: SessionDir, signal: AbortSignal, program = tpmProgram): Promise<Tpm | undefined> {
  const folder = dir.file(folderName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) await chown(folder, nobody, nobody);
  // When it connects, QEMU is root without its capabilities. No other user can enter the session's directory.
  await chmod(folder, 0o711);
  const state = ["--tpmstate", "dir=.", "--ctrl", `type=unixio,path=${socketName},mode=0666`];
  const limited = [`--fsize=${maxFileBytes}`, "--core=0", "--", program, "socket", "--tpm2", ...state];
  const [command, args] = await sandboxedAsNobody(folder, "prlimit", limited);
  const child = spawn(command, args, { cwd: folder, env: environment(), detached: true, stdio: "ignore" });
  const ended = new Promise<"ended">((resolve) => {
    child.on("error", () => resolve("ended")).on("exit", () => resolve("ended"));
  });
  const end = async () => {
    killGroup(child.pid);
    await ended;
  };
  const given = new AbortController();
  const inTime = AbortSignal.any([signal, given.signal, AbortSignal.timeout(startTimeoutMs)]);
  try {
    const listening = untilConnected(dir.socket(`${folderName}/${socketName}`), inTime);
    const first = await Promise.race([listening, ended]);
    if (first === "ended") return undefined;
    first.destroy();
  } catch (error) {
    await end();
    throw error;
  } finally {
    given.abort();
  }
  return {
    args: [
      ["-chardev", `socket,id=tpm,path=${folderName}/${socketName}`],
      ["-tpmdev", "emulator,id=tpm,chardev=tpm", "-device", "tpm-crb,tpmdev=tpm"],
    ].flat(),
    [Symbol.asyncDispose]: end,
  };
}
