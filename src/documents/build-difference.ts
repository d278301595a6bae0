import { imageTypes } from "#lib/contract/index";
import type { BuildDifference, ComparedBuild, ComparedFiles } from "#domain/difference/builds";
import type { ComparedFile } from "#domain/difference/files";
import {
  arrayOf,
  bool,
  digest,
  fields,
  group,
  id,
  inside,
  int,
  oneOf,
  repeated,
  text,
  url,
  version,
} from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";

/** The element `difference` (docs/api/difference.md): a Kiln extension. */
export interface ShownDifference {
  difference: BuildDifference;
  files: ComparedFiles;
  /** The URL of the next files; undefined if there are no more. */
  nextUrl: string | undefined;
}

const changes = ["changed", "added", "removed"] as const;

/** The sizes of the disk or medium and of the file to download, in bytes. */
const compared = (buildId: number, release: string) =>
  fields({
    build_id: id(({ build }: ComparedBuild) => build.id, buildId),
    appliance_id: id(({ build }: ComparedBuild) => build.applianceId, 1004),
    name: text(({ input }: ComparedBuild) => input.appliance.name, "Reading room"),
    version: version(({ build }: ComparedBuild) => build.version, release),
    image_type: oneOf(({ build }: ComparedBuild) => build.imageType, imageTypes),
    raw_size: int(({ build }: ComparedBuild) => build.rawSize ?? 0, 431_996_928),
    file_size: int(({ build }: ComparedBuild) => build.fileSize ?? 0, 123_731_968),
  });

const comparedPackage = (evr: string) =>
  fields({
    version: text("version", evr),
    arch: text("arch", "x86_64"),
    repository: text("repository", "Tiny Linux 1.0 main").optional(),
    license: text("license", "GPL-2.0-only").optional(),
    checksum: text("checksum", "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae").optional(),
  });

const packageChange = fields({
  change: oneOf("change", changes),
  name: text("name", "busybox"),
  from: inside("from", comparedPackage("1.35.0-1")).optional(),
  to: inside("to", comparedPackage("1.36.0-1")).optional(),
});

const licenses = fields({
  known: bool("known", true),
  added: repeated("added", leaves.text("MIT")),
  removed: repeated("removed", leaves.text("GPL-3.0-only")),
});

const setting = fields({
  name: text("name", "hostname"),
  item: text("item", "").optional(),
  from: text("from", "reading").optional(),
  to: text("to", "reading-room").optional(),
});

export const typeNames = {
  f: "file",
  l: "link",
  d: "directory",
  c: "character device",
  b: "block device",
  p: "fifo",
  s: "socket",
} as const satisfies Record<ComparedFile["type"], string>;

const file = (bytes: number) =>
  fields({
    type: oneOf(({ type }: ComparedFile) => typeNames[type], Object.values(typeNames)),
    permissions: text(({ mode }: ComparedFile) => mode.toString(8), "644"),
    owner: text("owner", "root"),
    group: text("group", "root"),
    size: int("size", bytes).optional(),
    sha256: digest("sha256", "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9").optional(),
    target: text("target", "/run").optional(),
  });

const fileChange = fields({
  change: oneOf("change", changes),
  path: text("path", "/etc/motd"),
  from: inside("from", file(12)).optional(),
  to: inside("to", file(20)).optional(),
});

const files = fields({
  state: oneOf(({ files }: ShownDifference) => files.state, ["compared", "gone"]),
  file: repeated(({ files }: ShownDifference) => (files.state === "gone" ? [] : files.changes), fileChange),
  next_url: url(
    "nextUrl",
    "https://kiln.example.org/api/v2/user/builds/31/difference?to=32&path=%2F&after=%2Fetc%2Fmotd&limit=100",
  ).optional(),
});

export const buildDifference = document(
  "BuildDifference",
  "difference",
  fields({
    from: inside(({ difference }: ShownDifference) => difference.from, compared(31, "0.0.2")),
    to: inside(({ difference }: ShownDifference) => difference.to, compared(32, "0.0.3")),
    packages: inside(({ difference }: ShownDifference) => difference.packages, arrayOf("package", packageChange)),
    licenses: inside(({ difference }: ShownDifference) => difference.licenses, licenses),
    settings: inside(({ difference }: ShownDifference) => difference.settings, arrayOf("setting", setting)),
    files: group(files),
  }),
);
