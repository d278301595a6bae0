/** Forgeries of an image by someone with root access to an agent's host. The service believes the agent. */
export interface BuildForgery {
  what: string;
  /** Scripts that run before or after a stage of KIWI, with `$root`, `$description`, `$packages`, `$target` and `$here`. */
  kiwi?: Partial<Record<KiwiMoment, string>>;
  /** False statements in the agent's report (lying-agent.ts). */
  report?: object;
}

export type KiwiMoment = "before-prepare" | "after-prepare" | "after-create";

const index = 'createrepo_c --quiet --no-database "$packages"';
const inDisk = (at: number) => `printf forged | dd of="$(ls "$target"/*.raw)" bs=1 seek=${at} conv=notrunc status=none`;
const capability = "0100000280000000000000000000000000000000";

const before = (what: string, script: string): BuildForgery => ({ what, kiwi: { "before-prepare": script } });
const inRoot = (what: string, script: string): BuildForgery => ({ what, kiwi: { "after-prepare": script } });
const after = (what: string, script: string): BuildForgery => ({ what, kiwi: { "after-create": script } });

/** All are built from the same appliance: Tiny Linux with `hello` and a file /etc/motd. */
export const buildForgeries: readonly BuildForgery[] = [
  before(
    "a package of the same version with another program",
    `for file in "$packages"/*.rpm; do
  if [ "$(rpm -qp --nosignature --qf '%{NAME}' "$file")" = hello ]; then cp "$here/hello.rpm" "$file"; fi
done; ${index}`,
  ),
  before(
    "a package more",
    `cp "$here/backdoor.rpm" "$packages"; ${index}
sed -i 's|<package name="hello=|<package name="backdoor"></package>&|' "$description/config.xml"`,
  ),
  before("another script of the build", `sed -i '2i echo forged > /etc/forged' "$description/config.sh"`),
  before(
    "another file of the appliance",
    `for file in "$description"/root/image/kiln/contents/*; do echo forged > "$file"; done`,
  ),
  inRoot("a program that was changed after its installation", `echo 'echo forged' >> "$root/usr/bin/hello"`),
  inRoot("another password of root", `sed -i 's|^root:[^:]*:|root:$6$forged$x:|' "$root/etc/shadow"`),
  inRoot("a key for SSH", `mkdir -p "$root/root/.ssh"; echo ssh-ed25519 AAAA > "$root/root/.ssh/authorized_keys"`),
  inRoot("a shell with the rights of root", `chmod u+s "$root/bin/bash"`),
  inRoot("another owner of a file", `chown 1000 "$root/etc/passwd"`),
  inRoot(
    "a capability of a program",
    `python3 -c 'import os; os.setxattr(os.environ["root"] + "/usr/bin/hello", "security.capability", bytes.fromhex("${capability}"))'`,
  ),
  inRoot("another kernel", `for file in "$root"/boot/vmlinuz-*; do printf x >> "$file"; done`),
  after("code of the boot loader", inDisk(300)),
  after("data outside of all files", inDisk(700 * 512)),
  after("the finished disk of another appliance", `cp "$here/other.raw" "$(ls "$target"/*.raw)"`),
  after("a list of files without one that is in the image", `rm "$root/usr/bin/hello"`),
  { what: "a bill of materials without a package", report: { hidden: "hello" } },
  {
    what: "a builder root that did not build it",
    report: { fields: { builderRoot: { name: "debian-12", sha256: "0".repeat(64) } } },
  },
];
