/**
 * npm run package:image: makes a container image of the builder agent in dist/agent, as an OCI archive. Needs no
 * container engine.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { command } from "./launch/command.ts";
import { Complaint, orComplaint, runCommand } from "./launch/complaint.ts";
import { packagesFor, type Purpose } from "./launch/host-packages.ts";
import { projectRoot } from "./launch/project.ts";
import { print } from "./launch/progress.ts";
import { writeLayout } from "./release/oci-layout.ts";

/** The purposes whose packages the image contains, for builds and testdrives. */
const purposes: readonly Purpose[] = [
  ...(["oem", "iso", "UEFI disks", "UEFI media", "xfs disks", "btrfs disks", "deb", "guests", "fast packing"] as const),
  ...(["testdrives", "sandbox of testdrives", "Secure Boot of testdrives"] as const),
];
/** Additional packages for https, for guests, and for disks with volumes. */
const others = ["ca-certificates", "iproute2", "kmod", "lvm2"];

const usage = `npm run package:image -- [options]

  --suite NAME   release of Debian that the image is made of (default: bookworm)
  --mirror URL   mirror of Debian (default: http://deb.debian.org/debian)
  --help

It needs mmdebstrap, and root or a user who may make user namespaces. It takes the .deb that npm run package:agent
has written to dist/agent.`;

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

await runCommand("package:image", async () => {
  const options = { suite: { type: "string" }, mirror: { type: "string" }, help: { type: "boolean" } } as const;
  const { values } = orComplaint(() => parseArgs({ options }), usage);
  if (values.help) return print(usage);
  const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
  const architecture = architectures[process.arch];
  if (architecture === undefined) throw new Complaint(`There is no image for ${process.arch}.`);
  const folder = join(projectRoot, "dist/agent");
  const deb = join(folder, `kiln-agent_${version}_${architecture}.deb`);
  if (!existsSync(deb)) throw new Complaint(`There is no ${deb}. Run npm run package:agent first.`);
  const { suite = "bookworm", mirror = "http://deb.debian.org/debian" } = values;
  print(await makeImage({ folder, deb, version, architecture, suite, mirror }));
});

interface Wanted {
  folder: string;
  deb: string;
  version: string;
  architecture: string;
  suite: string;
  mirror: string;
}

async function makeImage({ folder, version, architecture, ...given }: Wanted): Promise<string> {
  const [root, layout] = [join(folder, "root.tar"), join(folder, "oci")];
  for (const path of [root, layout]) rmSync(path, { recursive: true, force: true });
  const created = await lastCommit();
  await makeRoot(root, created, given);
  await writeLayout(layout, root, {
    architecture,
    version,
    created,
    entrypoint: ["kiln-agent"],
    command: ["run"],
    volumes: ["/var/lib/kiln-agent"],
    labels: {
      "org.opencontainers.image.title": "kiln-agent",
      "org.opencontainers.image.description": "Builder agent of Kiln",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": "MIT",
    },
  });
  const archive = join(folder, `kiln-agent-${version}-${architecture}.oci.tar`);
  await command("tar", ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "-C", layout, "-cf", archive, "."]);
  for (const path of [root, layout]) rmSync(path, { recursive: true });
  return archive;
}

/** Makes a tar of a Debian with the agent. The same time and packages always give the same tar. */
async function makeRoot(
  root: string,
  created: Date,
  { deb, suite, mirror }: Pick<Wanted, "deb" | "suite" | "mirror">,
): Promise<void> {
  const tools = [...new Set([...packagesFor(purposes).map(({ debian }) => debian), ...others])];
  const options = [
    "--quiet",
    "--variant=minbase",
    // The agent gets the kernel of its guests with apt, which finds no packages without its lists.
    "--skip=cleanup/apt/lists",
    `--include=${tools.join(",")}`,
    // Documentation is useless in a container, but licences must stay.
    ...["doc", "man", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    "--dpkgopt=path-include=/usr/share/doc/kiln-agent/*",
    `--customize-hook=upload ${deb} /kiln-agent.deb`,
    `--customize-hook=chroot "$1" dpkg --install /kiln-agent.deb`,
    `--customize-hook=rm "$1/kiln-agent.deb"`,
  ];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(created.getTime() / 1000) };
  await command("mmdebstrap", [...options, suite, root, mirror], { env });
}

/** The time of the released commit, so that the same commit and mirror give the same image. */
async function lastCommit(): Promise<Date> {
  return new Date(Number(await command("git", ["-C", projectRoot, "log", "-1", "--format=%ct"])) * 1000);
}
