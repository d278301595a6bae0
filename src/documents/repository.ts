import { publicUrl } from "#lib/contract/repository-url";
import { WireFault } from "#lib/wire/fault";
import { arrayOf, bool, fields, id, inside, oneOf, readAs, repeated, text, url } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { plainName } from "#lib/wire/leaf";
import type { XmlNode } from "#lib/wire/read-xml";
import { document } from "#lib/wire/shape";

const address = "https://kiln.example.org/repositories/tiny/main";

/** Omitted for a repository of uploads, and for software that came from no repository. */
export const baseUrl = url(
  ({ url }: Readonly<{ url: string | undefined }>, viewer) => url && publicUrl(url, viewer.baseUrl),
  address,
).optional();

/** The element `repository` (compatibility.md, "Repositories"). */
const facts = {
  id: id("id", 12),
  name: text("name", "Tiny Linux 1.0 main"),
  type: oneOf("type", ["rpm-md", "yast2", "deb"]),
  base_system: text("baseSystem", "tiny-1.0"),
  base_url: baseUrl,
  signed_by: text("signer", "B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8").inJson(),
  accepts_expired: bool("acceptsExpired", false).inJson(),
};

/** The matches of a filter, in lower case (compatibility.md, "Repositories"). */
const matches = fields({
  repository_name: text("name", "tiny linux 1.0 main").optional(),
  repository_base_url: url("url", address).optional(),
  software_name: repeated("packages", leaves.text("tiny-init")),
});

export const repository = document("Repository", "repository", fields(facts));

export const repositories = document("Repositories", "repositories", arrayOf("repository", fields(facts)));

export const foundRepositories = document(
  "FoundRepositories",
  "repositories",
  arrayOf("repository", fields({ ...facts, matches: inside("matches", matches).optional() })),
);

/** Only the ids are read, so that a client can send an answer back. */
export const wantedRepositories = document(
  "WantedRepositories",
  "repositories",
  arrayOf("repository", readAs(fields({ id: id("id", 12) }), idIn)),
);

/** The id as text, because the call decides which ids are valid. */
function idIn({ children }: XmlNode, path: string): string {
  const [id, second] = children.filter((child) => plainName(child) === "id");
  if (!id || second) throw new WireFault("invalid_node", `${path} must have exactly one id.`);
  return id.text;
}
