import { imageTypes } from "#lib/contract/image-formats";
import { storedConfiguration } from "#lib/configuration/document";
import { arrayOf, bool, digest, fields, id, inside, int, lines, oneOf, text, url, version } from "#lib/wire/field";
import { document } from "#lib/wire/shape";
import { anyPartOf, withEmpty, withoutSecrets } from "#lib/wire/variants";

/*
 * The element `definition`: the whole appliance, in a form for a file (docs/api/definitions.md). It contains no ids of
 * a service: repositories are identified by URL or name, contents by SHA-256. Passwords are read, but never shown.
 * Empty values are shown, because omitted values stay unchanged.
 */

const repository = fields({
  name: text("name", "Tools").optional(),
  /** Absent for a repository that the service itself stores, because its URL differs between services. */
  url: url("url", "https://mirror.example.org/tools").optional(),
  /** Whether it is the repository of the account's own uploads. */
  uploads: bool("uploads", false).optional(),
});

const chosen = (name: string) =>
  fields({
    name: text("name", name).required(),
    version: text("version", "1.0-1").optional(),
    repository: text("repository", "Tools").optional(),
  });

const file = fields({
  path: text("path", "/etc/counter.conf").required(),
  owner: text("owner", "root").optional(),
  group: text("group", "root").optional(),
  permissions: text("permissions", "644").optional(),
  enabled: bool("enabled", true).optional(),
  size: int("size", 1290).optional(),
  sha256: digest("sha256", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae").required(),
  /** The answer of `POST contents`, for content that the appliance does not have. */
  upload: text("upload", "eyJiIjoiN2I…").optional(),
});

const gpgKey = fields({
  name: text("name", "Reading room packages").required(),
  target: oneOf("target", ["rpm"]).optional(),
  key: lines("key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n…\n-----END PGP PUBLIC KEY BLOCK-----\n").required(),
});

export const definitionFields = fields({
  id: id("id", 1004).ignored(),
  name: text("name", "Reading room"),
  base_system: text("baseSystem", "tiny-1.0"),
  arch: text("arch", "x86_64"),
  version: version("version", "0.0.1"),
  type: oneOf("imageType", imageTypes),
  repositories: inside("repositories", arrayOf("repository", repository)),
  packages: inside("packages", arrayOf("package", chosen("hello"))),
  patterns: inside("patterns", arrayOf("pattern", chosen("base"))),
  bans: inside("bans", arrayOf("ban", chosen("sendmail"))),
  configuration: inside("configuration", withEmpty(withoutSecrets(storedConfiguration))),
  files: inside("files", arrayOf("file", file)),
  gpg_keys: inside("gpgKeys", arrayOf("gpg_key", gpgKey)),
});

export const definition = document("Definition", "definition", definitionFields);

/** Omitted values stay as they are. A list that is sent replaces the stored one. */
export const wantedDefinition = anyPartOf("WantedDefinition", definition);
