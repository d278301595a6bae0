import {
  bool,
  countedOf,
  digest,
  document,
  fields,
  id,
  int,
  marked,
  optional,
  repeated,
  text,
  time,
  version,
  type Fields,
} from "#openapi/shape";
import { firewall, network } from "#documents/configuration";

const gallery = (name: string, content: Fields["given"]) => document(name, "gallery", fields(content));

export const sharing = document(
  "Sharing",
  "appliance",
  fields({ id: id(1004), read_users: countedOf("username", text("odo")) }),
);

const entry = fields({
  id: id(1004),
  name: text("Reading room"),
  publisher: text("Mira Lenz"),
  username: text("mira"),
  homepage: text("https://reading.example.org"),
  description: text("One screen, no login."),
  ratings: int(3),
  average_rating: text("4.33333333333333"),
  comments: int(2),
  based_on: text("tiny-1.0"),
  date: time("2026-03-05T09:00:00Z"),
});

/** `count` is that of all pages. */
export const galleryPage = gallery("GalleryPage", {
  appliances: marked({ count: int(1) }, fields({ pages: int(1), current_page: int(1), appliance: repeated(entry) })),
});

export const publication = gallery("Publication", {
  appliance: fields({
    id: id(1004),
    name: text("Reading room"),
    version: version("0.0.2"),
    release_notes: text("The clock is right now."),
    homepage: text("https://reading.example.org"),
    description: text("One screen, no login."),
    publisher: text("Mira Lenz"),
    username: text("mira"),
    based_on: text("tiny-1.0"),
    formats: countedOf("format", marked({ md5: digest("7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90") }, text("oem"))),
    configuration: fields({
      accounts: countedOf("account", fields({ user: text("clerk"), password: text("quiet please") })),
    }),
    keyboard_layout: text("english-uk"),
    language: text("en_GB.UTF-8"),
    timezone: fields({ location: text("Europe/London") }),
    network,
    firewall,
    security: fields({
      sources: fields({ only_trusted: bool(false), untrusted_source: repeated(text("mira Tiny Linux 1.0")) }),
      custom_packages: fields({ uses_custom_packages: bool(true) }),
      overlay_files: bool(true),
      custom_scripts: bool(false),
    }),
  }),
});

export const releaseNotesDraft = gallery("ReleaseNotesDraft", {
  appliance: fields({
    id: id(1004),
    version: version("0.0.3"),
    since: optional(version("0.0.2")),
    release_notes: text("Changes since version 0.0.2"),
  }),
});

export const publishedVersions = gallery("PublishedVersions", {
  appliance: fields({ versions: countedOf("version", version("0.0.2")) }),
});

export const rating = gallery("Rating", {
  appliance: fields({ ratings: int(3), average_rating: text("4.33333333333333") }),
});

const item = (name: string) => marked({ repository: text("Tiny Linux 1.0 main"), version: text("1.0-1") }, text(name));
const items = marked({ count: int(2) }, fields({ package: repeated(item("hello")), pattern: repeated(item("base")) }));

export const publishedSoftware = gallery("PublishedSoftware", {
  appliance: fields({
    id: id(1004),
    repositories: countedOf("repository", marked({ trusted: bool(true) }, text("Tiny Linux 1.0 main"))),
    selected_software: items,
    installed_software: items,
  }),
});

export const galleryTestdrive = gallery("GalleryTestdrive", {
  testdrive: fields({
    url: text("https://kiln.example.org/testdrive/8/f0e1…"),
    server: fields({ vnc: fields({ host: text("kiln.example.org"), port: int(5901), password: text("q7rK2mXa") }) }),
  }),
});

export const comments = gallery("Comments", {
  appliance: fields({
    id: id(1004),
    comments: countedOf(
      "comment",
      fields({
        id: id(16),
        parent_id: optional(id(15)),
        timestamp: time("2026-03-06T12:05:41Z"),
        username: text("Odo Station"),
        text: text("Works at our desk & gate."),
      }),
    ),
  }),
});
