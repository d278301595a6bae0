import {
  arrayOf,
  digest,
  document,
  fields,
  id,
  inJson,
  int,
  marked,
  oneOf,
  optional,
  repeated,
  text,
  url,
} from "#openapi/shape";

const pinnable = (name: string) => repeated(marked({ version: optional(text("1.0-1")) }, text(name)));
const selection = { package: pinnable("hello"), pattern: pinnable("base") };

export const software = document(
  "Software",
  "software",
  marked({ type: oneOf("array"), appliance_id: id(1004) }, fields(selection)),
);
/** Attributes of the root say nothing. */
export const wantedSoftware = document("WantedSoftware", "software", fields(selection));

export const selectionChange = document(
  "SelectionChange",
  "success",
  fields({
    details: fields({
      status: fields({
        state: oneOf("changed", "equal", "broken"),
        packages_added: int(4),
        packages_removed: int(0),
        message: inJson(text("No package is called helo. Did you mean hello?")),
      }),
    }),
  }),
);

const shownPackage = marked(
  {
    arch: text("noarch"),
    checksum: optional(digest("9f4a0c77f1f3f0c2a5b1e0d4c7b6a5948372615f")),
    version: text("1.1-1"),
    checksum_type: optional(text("SHA256")),
  },
  text("hello"),
);
const shownPattern = marked({ arch: text("noarch"), version: text("1.0-1") }, text("base"));

export const softwareMap = document(
  "SoftwareMap",
  "software_map",
  arrayOf(
    "repository",
    marked(
      {
        base_url: optional(url("https://kiln.example.org/repositories/tiny/main")),
        name: text("Tiny Linux 1.0 main"),
        id: id(12),
      },
      fields({
        software: marked(
          { type: oneOf("array") },
          fields({ package: repeated(shownPackage), pattern: repeated(shownPattern) }),
        ),
      }),
    ),
    { appliance_id: id(1004) },
  ),
);
