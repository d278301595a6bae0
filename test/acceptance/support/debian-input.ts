import { execFileSync } from "node:child_process";
import { settingsWith } from "../../support/settings.ts";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { frozenFirmware } from "#domain/images/firmware";
import { FrozenInput, type Firmware, type FrozenPackage, type ImageType } from "../../../builder-agent/src/contract.ts";
import { plain } from "../../kiwi/support/facts.ts";

// Debian from the mirror that this machine's own apt uses. apt resolves and downloads, so all of its proxies and
// options apply.

/** Packages in this directory are not downloaded again. */
const cache = join(process.env["TINY_CACHE"] ?? join(homedir(), ".cache/kiln"), "debian-releases");

/** The smallest system that boots from a disk, asks for a login, and has a network. */
const jeos = [
  ["linux-image-amd64", "dracut", "zstd", "grub-pc-bin", "grub2-common", "init", "systemd-sysv", "udev", "kmod"],
  ["dbus", "iproute2", "ifupdown", "netbase", "openssh-server", "locales", "tzdata", "e2fsprogs", "fdisk", "nftables"],
].flat();

const dhcpClient = { bookworm: "isc-dhcp-client", trixie: "dhcpcd-base" } as const;

export interface DebianWish {
  release: keyof typeof dhcpClient;
  imageType?: ImageType;
  packages?: readonly string[];
  firmware?: Firmware;
  facts?: Partial<ImageFacts>;
}

/** A frozen input as the Worker writes it, and the folder that serves as its one repository. */
export interface DebianInput {
  input: FrozenInput;
  folder: string;
}

/** Throws if this machine has no Debian of that release. The message names the missing part. */
export function debianInput({
  release,
  imageType = "oem",
  packages: more = [],
  firmware = "bios",
  facts = {},
}: DebianWish): DebianInput {
  const apt = aptOf(release);
  const wanted = [...required(apt), "apt", "usr-is-merged", dhcpClient[release], ...jeos, ...more];
  const packages = fetched(apt, wanted);
  const imageFacts: ImageFacts = {
    ...plain,
    name: "Debian",
    title: "Debian",
    imageType,
    packages,
    settings: settingsWith({ diskSizeMb: 1500, swapSizeMb: 0 }),
    debian: { release, sources: [], keys: [] },
    firmware,
    ...facts,
  };
  const { network, firewall, locale } = imageFacts;
  const input = FrozenInput.parse({
    formatVersion: 1,
    appliance: { id: 1000, name: "Debian", version: "0.0.1", arch: "x86_64" },
    imageType,
    ...frozenFirmware(firmware),
    packageType: "deb",
    debRelease: release,
    imageName: `Debian.x86_64-0.0.1.${imageType}`,
    repositories: [{ alias: "debian", id: 1, name: "Debian", url: "service:/repositories/debian", trust: null }],
    packages,
    selection: { packages: [], patterns: [] },
    description: descriptionFiles(imageFacts),
    files: [],
    keys: [],
    configuration: {
      baseSystem: "debian",
      estimatedRawMb: 1500,
      locale,
      runlevel: 3,
      network,
      firewall,
      webyast: false,
    },
    sourceDate: 1_767_225_600,
    writtenBy: "kiln-test",
  });
  return { input, folder: apt.archives };
}

/** How to call apt as if nothing were installed. */
interface Apt {
  options: string[];
  archives: string;
}

function aptOf(release: string): Apt {
  const folder = join(cache, release);
  const archives = join(folder, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  writeFileSync(join(folder, "status"), "");
  const mirrors = mirrorsOfHost();
  const own = {
    "Dir::State::status": join(folder, "status"),
    "Dir::Cache::archives": archives,
    "APT::Install-Recommends": "false",
    "APT::Sandbox::User": "root",
    "Debug::NoLocking": "true",
    ...(mirrors.some((one) => one.codename === release) ? {} : otherRelease(release, folder, mirrors)),
  };
  const options = Object.entries(own).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  if ("Dir::State" in own) execFileSync("apt-get", [...options, "update"], { stdio: "pipe" });
  return { options, archives };
}

interface Mirror {
  uri: string;
  codename: string;
}

function mirrorsOfHost(): Mirror[] {
  if (!existsSync("/usr/bin/apt-get")) throw new Error("this machine has no apt, which would know a mirror of Debian");
  const format = ["indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages", "Origin: Debian"];
  const lines = execFileSync("apt-get", format, { encoding: "utf8" }).trim().split("\n");
  const mirrors = lines.map((line) => line.split(" ")).map(([uri = "", codename = ""]) => ({ uri, codename }));
  if (mirrors.every(({ uri }) => uri === ""))
    throw new Error("apt of this machine knows no mirror of Debian, or has no lists of it: run apt-get update");
  return mirrors;
}

/** Another release than the host's, from the same mirrors. */
function otherRelease(release: string, folder: string, mirrors: readonly Mirror[]): Record<string, string> {
  const main = mirrors.find(({ codename }) => /^[a-z]+$/.test(codename));
  const security = mirrors.find(({ codename }) => codename.endsWith("-security"));
  const signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
  const lines = [
    ...(main ? [`deb ${signed} ${main.uri} ${release} main`, `deb ${signed} ${main.uri} ${release}-updates main`] : []),
    ...(security ? [`deb ${signed} ${security.uri} ${release}-security main`] : []),
  ];
  mkdirSync(join(folder, "state/lists/partial"), { recursive: true });
  mkdirSync(join(folder, "cache"), { recursive: true });
  writeFileSync(join(folder, "sources.list"), lines.map((line) => `${line}\n`).join(""));
  return {
    "Dir::State": join(folder, "state"),
    "Dir::Cache": join(folder, "cache"),
    "Dir::Etc::sourcelist": join(folder, "sources.list"),
    "Dir::Etc::sourceparts": "-",
  };
}

/** The packages that debootstrap installs first. */
function required(apt: Apt): string[] {
  const paragraphs = textOf("apt-cache", apt, ["dumpavail"]).split("\n\n");
  const names = paragraphs.flatMap((text) =>
    /^(?:Essential: yes|Priority: required)$/m.test(text) ? (/^Package: (.+)$/m.exec(text)?.[1] ?? []) : [],
  );
  return [...new Set(names)];
}

const textOf = (program: string, { options }: Apt, words: string[]): string =>
  execFileSync(program, [...options, ...words], { encoding: "utf8", stdio: "pipe", maxBuffer: 2 ** 30 });

/** Downloads the packages that apt would install, and freezes them. */
function fetched(apt: Apt, wanted: readonly string[]): FrozenPackage[] {
  const plan = textOf("apt-get", apt, ["--simulate", "install", ...wanted]);
  const chosen = [...plan.matchAll(/^Inst (\S+) \((\S+) /gm)].map(
    ([, name = "", version = ""]) => `${name}=${version}`,
  );
  textOf("apt-get", apt, ["--yes", "--download-only", "install", ...wanted]);
  const shown = textOf("apt-cache", apt, ["show", "--no-all-versions", ...chosen]);
  return shown
    .split("\n\n")
    .filter((text) => text.startsWith("Package: "))
    .map(frozenOf);
}

const fileFields = /^(?:Filename|Size|MD5sum|SHA\d+|Description(?:-md5)?|Tag|Homepage|Maintainer):.*\n(?:[ \t].*\n)*/gm;

function frozenOf(paragraph: string): FrozenPackage {
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, "m").exec(paragraph)?.[1] ?? "";
  const whole = field("Version");
  const [, epoch = "0", version = "", release = ""] = /^(?:(\d+):)?(.+?)(?:-([^-]*))?$/.exec(whole) ?? [];
  const name = field("Package");
  const arch = field("Architecture");
  return {
    name,
    epoch: Number(epoch),
    version,
    release,
    arch,
    repository: "debian",
    location: `${name}_${whole.replaceAll(":", "%3a")}_${arch}.deb`,
    checksum: { type: "sha256", value: field("SHA256") },
    size: Number(field("Size")),
    control: `${paragraph}\n`.replace(fileFields, ""),
  };
}
