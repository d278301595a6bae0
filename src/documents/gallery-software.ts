import type { PublishedItem, PublishedSoftware } from "#model/published";
import { bool, countedOf, fields, group, id, inside, int, marked, repeated, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** An item with the name of the repository that it came from. */
type ShownItem = Pick<PublishedItem, "kind" | "name" | "version"> & { from: string };

const repository = marked({ trusted: bool("trusted", true) }, text("name", "Tiny Linux 1.0 main"));

const item = (name: string) =>
  marked({ repository: text("from", "Tiny Linux 1.0 main"), version: text("version", "1.0-1") }, text("name", name));

const ofKind = (wanted: PublishedItem["kind"]) => (items: readonly ShownItem[]) =>
  items.filter(({ kind }) => kind === wanted);

/** Packages, then patterns, in one list. */
const items = marked(
  { count: int(({ length }: readonly ShownItem[]) => length, 2) },
  fields({
    package: repeated(ofKind("package"), item("hello")),
    pattern: repeated(ofKind("pattern"), item("base")),
  }),
);

interface Published {
  applianceId: number;
  software: PublishedSoftware;
}

const itemsOf =
  (list: "selected" | "installed") =>
  ({ software }: Published): ShownItem[] =>
    software[list].map(({ repository, ...one }) => ({ ...one, from: software.repositories[repository]?.name ?? "" }));

/** The contents of a published version, and their origin (compatibility.md, "Gallery"). */
const contents = fields({
  id: id("applianceId", 1004),
  repositories: inside(({ software }: Published) => software.repositories, countedOf("repository", repository)),
  selected_software: inside(itemsOf("selected"), items),
  installed_software: inside(itemsOf("installed"), items),
});

export const publishedSoftware = document("PublishedSoftware", "gallery", fields({ appliance: group(contents) }));
