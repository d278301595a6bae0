import { fileURLToPath } from "node:url";
import type { Arch } from "../contract.ts";
import { sandbox } from "../sandbox.ts";
import { whyItFails } from "../process.ts";
import { clientsPort, clientsSocket, forwardsOf } from "./guest-network.ts";
import type { Machine } from "./machine.ts";
import { asNobody, userOfSession } from "./rights.ts";
import type { SessionDir } from "./session-dir.ts";

/** Whether the QEMUs of testdrives run in a sandbox on this host. */
export interface SandboxState {
  enclosed: boolean;
  /** Why they do not run in one. */
  openness: string;
}

/**
 * A session's QEMU has its own network, with only a loopback, and its own files, processes and names. As root it uses
 * no user namespace: QEMU opens its files as root and then becomes the session's user, which such a namespace would
 * lack.
 */
const namespaces = (): string[] =>
  process.getuid?.() === 0
    ? [
        ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"],
      ].flat()
    : ["--unshare-all"];

const shownAs = "/disk";

/**
 * The same command, run as the user nobody in `dir`. If a sandbox works here, it sees only that directory and the
 * programs of this host.
 */
export async function sandboxedAsNobody(
  dir: string,
  command: string,
  args: string[],
): Promise<[command: string, args: string[]]> {
  if (!(await getSandbox()).enclosed) return asNobody(command, args);
  const mounts = ["--bind", dir, shownAs];
  // Root without its capabilities may not enter the directory of another user.
  const [become, inside] = asNobody("env", [`--chdir=${shownAs}`, command, ...args]);
  const [bubblewrap = "", ...outer] = sandbox({ accel: "tcg", namespaces: namespaces(), mounts });
  return [bubblewrap, [...outer, become, ...inside]];
}

let sandboxState: Promise<SandboxState> | undefined;

/** Checked once per process, because the answer does not change. */
export const getSandbox = (): Promise<SandboxState> => (sandboxState ??= trySandbox());

/** Tries a sandbox with `qemu --version`. Exported for its test. */
export async function trySandbox(env: Record<string, string> = environment()): Promise<SandboxState> {
  const [command = "", ...args] = [...sandbox({ accel: "tcg", namespaces: namespaces() }), qemuProgram, "--version"];
  const openness = await whyItFails(command, args, env).catch(reasonOf);
  return { enclosed: openness === "", openness };
}

const reasonOf = (error: Error): string =>
  "code" in error && error.code === "ENOENT" ? "bubblewrap is not installed" : error.message;

export const qemuProgram = "qemu-system-x86_64";

export const qemuPrograms: Readonly<Record<Arch, string>> = {
  x86_64: qemuProgram,
  i586: qemuProgram,
  aarch64: "qemu-system-aarch64",
};

/** QEMU's environment. The agent's own may contain a token. */
export const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin",
});

const bridge = fileURLToPath(new URL("socket-bridge.ts", import.meta.url));

/** The command of a QEMU in a sandbox. It sees its session's directory and its image at their usual paths. */
export function sandboxed(machine: Machine, dir: SessionDir, qemu: readonly string[]): string[] {
  if (!machine.enclosed) return [...qemu];
  const ways = [
    ...forwardsOf(machine).map(({ socket, inside }) => `${socket}=${inside}`),
    ...(machine.vnc ? [`${clientsSocket}=${clientsPort}`] : []),
  ];
  const shown = ways.length === 0 ? [machine.image] : [machine.image, process.execPath, bridge];
  const readOnly = shown.flatMap((path) => ["--ro-bind", path, path]);
  const mounts = ["--bind", dir.path, dir.path, ...readOnly];
  const user = userOfSession(machine.testdriveId) ?? "";
  const opener =
    ways.length === 0 ? [] : [process.execPath, "--max-old-space-size=32", bridge, `${user}`, ways.join(",")];
  return [...sandbox({ accel: machine.accel, namespaces: namespaces(), mounts, dir: dir.path }), ...opener, ...qemu];
}
