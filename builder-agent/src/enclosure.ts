import type { Accel } from "./testdrive/accel.ts";

export interface Enclosure {
  accel: Accel;
  /** bubblewrap's words for what the program does not share with this host. */
  apart: readonly string[];
  /** bubblewrap's words for what else is shown. */
  mounts?: readonly string[];
  /** Where the program starts. */
  dir?: string;
}

/** The walls around a QEMU, as a command to put before it: it sees programs and libraries, read-only, and nothing else. */
export function enclosure({ accel, apart, mounts = [], dir = "/" }: Enclosure): string[] {
  const links = ["bin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
  const readOnly = ["/etc/ld.so.cache", "/etc/alternatives"].flatMap((path) => ["--ro-bind-try", path, path]);
  const device = accel === "kvm" ? ["--dev-bind", "/dev/kvm", "/dev/kvm"] : [];
  return [
    ["bwrap", ...apart, "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"],
    [...links, ...readOnly, "--proc", "/proc", "--dev", "/dev", ...device, "--tmpfs", "/tmp"],
    [...mounts, "--chdir", dir, "--"],
  ].flat();
}
