import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  architectures,
  productOf,
  type Arch,
  type FrozenInput,
  type ImageType,
  type PackageType,
  type RpmDatabase,
} from "../contract.ts";

/** All files of one KIWI run are below the work directory. Nothing is written to the host's /etc or /var. */
export interface KiwiPaths {
  description: string;
  /** The repository of the frozen packages. */
  packages: string;
  /** Public keys for the image's rpm. */
  keys: string;
  root: string;
  target: string;
  home: string;
  config: string;
  cache: string;
  temp: string;
  logs: { prepare: string; create: string };
}

/** The paths of a KIWI run below a directory, on this host or in a guest. */
export function kiwiPathsAt(workDir: string): KiwiPaths {
  const at = (name: string) => join(workDir, name);
  return {
    description: at("description"),
    packages: at("packages"),
    keys: at("keys"),
    root: at("root"), // made by KIWI, which refuses one that exists
    target: at("target"),
    home: at("home"),
    config: at("kiwi.yml"),
    cache: at("cache"),
    temp: at("temp"),
    logs: { prepare: at("prepare.log"), create: at("create.log") },
  };
}

export async function makeKiwiPaths(
  workDir: string,
  {
    packageType = "rpm",
    rpmDatabase,
    imageType = "oem",
  }: Partial<Pick<FrozenInput, "packageType" | "rpmDatabase" | "imageType">> = {},
  /** KIWI's version. */
  builder = "9",
): Promise<KiwiPaths> {
  const paths = kiwiPathsAt(workDir);
  const { description, packages, target, home, cache, temp } = paths;
  await Promise.all([description, packages, target, home, cache, temp].map((dir) => mkdir(dir)));
  await writeFile(join(paths.home, ".rpmmacros"), rpmMacros(rpmDatabase));
  await writeFile(paths.config, kiwiConfig({ packageType, imageType }, builder));
  return paths;
}

/** The environment of KIWI, zypper and rpm. They do not see the agent's own environment, which contains its token. */
export const kiwiEnvironment = (paths: KiwiPaths) => ({
  HOME: paths.home,
  PATH: `${shims}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  LANG: "C.UTF-8",
  ...forDebian,
});

/**
 * For the scripts of Debian's packages. Kernels make no initial RAM disk, because KIWI makes it when all packages are
 * installed. PostgreSQL's databases get the encoding of the locale, and KIWI sets LANG=C for apt.
 */
export const forDebian = { INITRD: "No", LC_ALL: "C.UTF-8" } as const;

/**
 * KIWI never gives debootstrap the architecture of the image (shims/debootstrap). The kernel of a PC never reports
 * arm64, so KIWI's Python does (shims/python/sitecustomize.py).
 */
export const environmentFor = (arch: Arch): Record<string, string> => ({
  KILN_DEB_ARCH: architectures[arch].debian,
  ...(arch === "aarch64" && { KILN_MACHINE: arch }),
});

/**
 * Wraps a command so that the kernel reports that architecture to it. KIWI, libzypp and the image's programs all query
 * the kernel.
 */
export const asMachine = (arch: Arch, command: string, args: string[]): [command: string, args: string[]] =>
  arch === "i586" ? ["setarch", ["i686", command, ...args]] : [command, args];

/** @param keys files of the public keys that the image's rpm must trust */
export const prepareArguments = (paths: KiwiPaths, type: ImageType, keys: readonly string[]) =>
  globalArguments(paths, type, "prepare").concat(
    "system",
    "prepare",
    "--description",
    paths.description,
    "--root",
    paths.root,
    ...keys.map((file) => `--signing-key=${file}`),
  );

export const createArguments = (paths: KiwiPaths, type: ImageType) =>
  globalArguments(paths, type, "create").concat("system", "create", "--root", paths.root, "--target-dir", paths.target);

const globalArguments = (paths: KiwiPaths, type: ImageType, verb: keyof KiwiPaths["logs"]) => [
  "--debug", // otherwise the log lacks the reasons of the dependency solver
  `--logfile=${paths.logs[verb]}`,
  `--config=${paths.config}`,
  `--type=${productOf(type).kiwi}`,
  `--shared-cache-dir=${paths.cache}`,
  `--temp-dir=${paths.temp}`,
];

/** Programs that replace the host's own in PATH while KIWI runs. */
export const shims = fileURLToPath(new URL("../../shims", import.meta.url));

// Debian's rpm has its database in the home directory and looks for gpg2. Neither is right for an image.
const rpmMacros = (database?: RpmDatabase) =>
  `%_dbpath /usr/lib/sysimage/rpm\n%__gpg /usr/bin/gpg\n${database === undefined ? "" : `%_db_backend ${database}\n`}`;

// By default KIWI compresses with xz -9, which takes longer than the rest of the build. From these options, shims/xz
// recognises an archive that no one reads, and the root of a container, which the agent compresses.
const xzOptions = { unused: "-0 --threads=0", stored: "-0 --threads=1" };

// KIWI looks for its dracut modules in packages called dracut-kiwi-*, which Debian calls kiwi-dracut-*. KIWI would also
// unpack the changelog of each package for a list that no one reads.
const debianSettings = {
  bundle: { has_package_changes: false },
  runtime_checks: {
    disable: [
      "check_dracut_module_for_disk_oem_in_package_list",
      "check_dracut_module_for_oem_install_in_package_list",
      "check_dracut_module_for_live_iso_in_package_list",
      "check_dracut_module_for_disk_overlay_in_package_list",
    ],
  },
};

/** JSON, which is YAML too. Before KIWI 11 each section is a list of settings. */
function kiwiConfig(
  { packageType, imageType }: { packageType: PackageType; imageType: ImageType },
  builder: string,
): string {
  const isRoot = productOf(imageType).kiwi === "tbz";
  const xz = { options: isRoot ? xzOptions.stored : xzOptions.unused };
  const sections = { xz, ...(packageType === "deb" && debianSettings) };
  if (Number.parseInt(builder, 10) >= 11) return JSON.stringify(sections);
  const lists = Object.entries(sections).map(([name, section]) => [
    name,
    Object.entries(section).map((one) => Object.fromEntries([one])),
  ]);
  return JSON.stringify(Object.fromEntries(lists));
}
