import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { linkIfAbsent, writeMountPoints, writeSettings } from "../guest/root-tree.ts";
import { outputOf } from "../process.ts";

/** Files that no build needs. The root of the host's packages omits the same (guest/root-files.ts). */
const leftOut = [
  ["./usr/share/doc/*", "./usr/share/man/*", "./usr/share/info/*", "./usr/share/lintian/*", "./usr/share/bug/*"],
  ["./usr/share/locale/*/*", "./usr/share/i18n/locales/*", "./etc/resolv.conf"],
].flat();

/** $1: the package, $2: the tree. All files belong to root, as in the squashfs. */
const unpacking = `dpkg-deb --fsys-tarfile "$1" |
  tar --extract --directory="$2" --keep-directory-symlink --no-same-owner --preserve-permissions \\
    --anchored --wildcards --warning=no-timestamp ${leftOut.map((each) => `--exclude='${each}'`).join(" ")}`;

/** Unpacks packages into an empty tree, several at a time, and makes the few files that their scripts would make. */
export async function unpackPackages(
  files: readonly string[],
  tree: string,
  { parallel, signal }: { parallel: number; signal: AbortSignal },
): Promise<void> {
  await mkdir(tree, { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib64"]) {
    await mkdir(join(tree, "usr", name), { recursive: true });
    await symlink(`usr/${name}`, join(tree, name));
  }
  const unpack = (file: string) => outputOf("bash", ["-o", "pipefail", "-c", unpacking, "bash", file, tree], signal);
  for (const file of files.filter(isFirst)) await unpack(file);
  const waiting = files.filter((file) => !isFirst(file));
  const worker = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) await unpack(file);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  await finish(tree, signal);
}

/**
 * base-files is unpacked first and alone: it contains Debian 13's links too, and no other package may be written
 * through them while it is being unpacked.
 */
const isFirst = (file: string): boolean => /(^|\/)base-files_/.test(file);

/** Alternatives (update-alternatives) that scripts need. */
const alternatives = { awk: "mawk", which: "which.debianutils" };

async function finish(tree: string, signal: AbortSignal): Promise<void> {
  await writeMountPoints(tree);
  await writeSettings(tree, tree);
  for (const [name, program] of Object.entries(alternatives)) {
    await linkIfAbsent(program, join(tree, "usr/bin", name));
  }
  await runInside(tree, finishing, signal);
}

/**
 * Makes the linker's cache, the list of certificates and Python's byte code. Python's HTTP library needs the list even
 * if it is not used. Without byte code, every start of a Python program compiles it first, which takes seconds on an
 * emulated processor. Unchecked byte code stays valid when its source gets another time.
 */
const finishing = `
[ ! -x /sbin/ldconfig ] || ldconfig
if [ -d /usr/share/ca-certificates ]; then
  mkdir -p /etc/ssl/certs
  cat /usr/share/ca-certificates/*/*.crt > /etc/ssl/certs/ca-certificates.crt
fi
for dir in /usr/lib/python3 /usr/lib/python3.*; do
  if [ -d $dir ] && [ -x /usr/bin/python3 ]; then python3 -m compileall -q --invalidation-mode unchecked-hash $dir || true; fi
done
`;

/** Runs one of our scripts with the tree's own programs and without network. */
async function runInside(tree: string, script: string, signal: AbortSignal): Promise<void> {
  const spaces = ["--mount", "--net", "--pid", "--fork", "--kill-child"];
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"];
  const command = [...clean, "chroot", tree, "/bin/sh", "-c", script];
  await outputOf("unshare", [...user, ...spaces, "--", ...command], signal);
}
