import { versionRelease } from "#lib/contract/index";
import type { SoftwareMap, RepositorySoftware, ShownPackage } from "#domain/images/installed-software";
import { baseUrl } from "#documents/repository";
import { digest, fields, group, id, int, marked, markedArrayOf, oneOf, repeated, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const pinnable = (name: string) =>
  marked({ version: text("version", "1.0-1").optional() }, text("name", name).required());

const selection = fields({
  package: repeated("packages", pinnable("hello")),
  // One client writes its patterns in this way (compatibility.md, "Software").
  pattern: repeated("patterns", pinnable("base")).alsoNamed("patterns"),
});

const isArray = oneOf(() => "array" as const, ["array"]);

/** The element `software`: packages and patterns side by side, `version` only on pinned ones (compatibility.md, "Software"). */
export const software = document(
  "Software",
  "software",
  marked({ type: isArray, appliance_id: id("applianceId", 1004) }, selection),
);

/** The root's attributes are ignored. In JSON they are members, so the reader must know them. */
export const wantedSoftware = document(
  "WantedSoftware",
  "software",
  marked({ appliance_id: id("applianceId", 1004).ignored() }, selection),
);

/** The result of a change of the selection. Clients of the original accept no other element in `success`. */
export const selectionChange = document(
  "SelectionChange",
  "success",
  fields({
    details: group(
      fields({
        status: group(
          fields({
            state: oneOf("state", ["changed", "equal", "broken"]),
            packages_added: int("packagesAdded", 4),
            packages_removed: int("packagesRemoved", 0),
            message: text("message", "No package is called helo. Did you mean hello?").inJson(),
          }),
        ),
      }),
    ),
  }),
);

const summary = text("summary", "Greets people").inJson();

const shownPackage = marked(
  {
    arch: text("arch", "noarch"),
    checksum: digest(
      ({ checksum }: ShownPackage) => checksum?.value,
      "9f4a0c77f1f3f0c2a5b1e0d4c7b6a5948372615f",
    ).optional(),
    version: text((one: ShownPackage) => versionRelease(one), "1.1-1"),
    checksum_type: text(({ checksum }: ShownPackage) => checksum?.type.toUpperCase(), "SHA256").optional(),
    summary,
    download_size: int("downloadSizeBytes", 20_480).inJson(),
    installed_size: int("installSizeBytes", 61_440).inJson(),
  },
  text("name", "hello"),
);

const shownPattern = marked(
  { arch: text("arch", "noarch"), version: text("version", "1.0-1"), summary },
  text("name", "base"),
);

const ofRepository = fields({
  software: group(
    marked(
      { type: isArray },
      fields({ package: repeated("packages", shownPackage), pattern: repeated("patterns", shownPattern) }),
    ),
  ),
});

/** The element `software_map`: what an image contains, by repository (compatibility.md, "Software"). */
export const softwareMap = document(
  "SoftwareMap",
  "software_map",
  markedArrayOf(
    { appliance_id: id("applianceId", 1004) },
    ({ repositories }: SoftwareMap): readonly RepositorySoftware[] => repositories,
    {
      item: "repository",
      of: marked({ base_url: baseUrl, name: text("name", "Tiny Linux 1.0 main"), id: id("id", 12) }, ofRepository),
    },
  ),
);
