/** How QEMU runs a guest's instructions: on the processor, or by emulation. */
export type Accel = "kvm" | "tcg";

export interface Sandbox {
  accel: Accel;
  /** bubblewrap's options for what the program does not share with this host. */
  namespaces: readonly string[];
  /** bubblewrap's options for what else the program sees. */
  mounts?: readonly string[];
  /** The program's working directory. */
  dir?: string;
}

/**
 * The command to put before QEMU's own. QEMU then sees programs and libraries, read-only, and nothing else. Start it in
 * its own process group (`detached`), which also detaches it from the terminal, and kill it as a group.
 */
export function sandbox({ accel, namespaces, mounts = [], dir = "/" }: Sandbox): string[] {
  const links = ["bin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
  const readOnly = ["/etc/ld.so.cache", "/etc/alternatives"].flatMap((path) => ["--ro-bind-try", path, path]);
  const device = accel === "kvm" ? ["--dev-bind", "/dev/kvm", "/dev/kvm"] : [];
  return [
    ["bwrap", ...namespaces, "--die-with-parent", "--ro-bind", "/usr", "/usr"],
    [...links, ...readOnly, "--proc", "/proc", "--dev", "/dev", ...device, "--tmpfs", "/tmp"],
    [...mounts, "--chdir", dir, "--"],
  ].flat();
}
