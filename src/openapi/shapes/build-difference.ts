import {
  arrayOf,
  bool,
  digest,
  document,
  fields,
  id,
  imageType,
  int,
  oneOf,
  optional,
  repeated,
  text,
  url,
  version,
} from "#openapi/shape";

const change = oneOf("changed", "added", "removed");

const compared = (build: number, release: string) =>
  fields({
    build_id: id(build),
    appliance_id: id(1004),
    name: text("Reading room"),
    version: version(release),
    image_type: imageType("oem"),
    raw_size: int(431_996_928),
    file_size: int(123_731_968),
  });

const rpm = (evr: string) =>
  fields({
    version: text(evr),
    arch: text("x86_64"),
    repository: optional(text("Tiny Linux 1.0 main")),
    license: optional(text("GPL-2.0-only")),
    checksum: optional(text("sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")),
  });

const file = (bytes: number) =>
  fields({
    type: oneOf("file", "link", "directory", "character device", "block device", "fifo", "socket"),
    permissions: text("644"),
    owner: text("root"),
    group: text("root"),
    size: optional(int(bytes)),
    sha256: optional(digest("fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9")),
    target: optional(text("/run")),
  });

export const buildDifference = document(
  "BuildDifference",
  "difference",
  fields({
    from: compared(31, "0.0.2"),
    to: compared(32, "0.0.3"),
    packages: arrayOf(
      "package",
      fields({
        change,
        name: text("busybox"),
        from: optional(rpm("1.35.0-1")),
        to: optional(rpm("1.36.0-1")),
      }),
    ),
    licenses: fields({
      known: bool(true),
      added: repeated(text("MIT")),
      removed: repeated(text("GPL-3.0-only")),
    }),
    settings: arrayOf(
      "setting",
      fields({
        name: text("hostname"),
        item: optional(text("")),
        from: optional(text("reading")),
        to: optional(text("reading-room")),
      }),
    ),
    files: fields({
      state: oneOf("compared", "gone"),
      file: repeated(fields({ change, path: text("/etc/motd"), from: optional(file(12)), to: optional(file(20)) })),
      next_url: optional(
        url("https://kiln.example.org/api/v2/user/builds/31/difference?to=32&path=%2F&after=%2Fetc%2Fmotd&limit=100"),
      ),
    }),
  }),
);
