import { versionRelease } from "#lib/contract/index";
import type { SoftwareEffect } from "#domain/software/effect";
import { arrayOf, fields, id, inside, int, oneOf, repeated, text } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";

type Package = SoftwareEffect["added"][number];

const amount = fields({
  packages: int("packages", 148),
  download_size: int("downloadBytes", 98_304_000),
  installed_size: int("installedBytes", 402_653_184),
});

const changedPackage = fields({
  name: text("name", "hello"),
  version: text((one: Package) => versionRelease(one), "1.1-1"),
  arch: text("arch", "noarch"),
  repository_id: id(({ repository }: Package) => Number(repository.replace(/^repo-/, "")), 12),
  download_size: int("downloadSizeBytes", 20_480),
  installed_size: int("installSizeBytes", 61_440),
});

/** The parameters of this change, so that a client can send them. */
const change = fields({
  add_package: repeated("addPackages", leaves.text("hello=1.1-1")),
  remove_package: repeated("removePackages", leaves.text("webdemo")),
  add_pattern: repeated("addPatterns", leaves.text("base")),
  remove_pattern: repeated("removePatterns", leaves.text("web")),
  ban_package: repeated("banPackages", leaves.text("webdemo-pro")),
  unban_package: repeated("unbanPackages", leaves.text("busybox")),
  add_repository: repeated("addRepositories", leaves.id(12)),
  remove_repository: repeated("removeRepositories", leaves.id(13)),
});

const problem = fields({
  text: text("text", "package helo does not exist"),
  meant: inside("meant", arrayOf("name", leaves.text("hello"))),
  solutions: inside(
    "solutions",
    arrayOf("solution", fields({ text: text("text", "do not ask to install helo"), change: inside("change", change) })),
  ),
});

/** The packages that a change would add and remove. Sizes are in bytes. */
export const effect = fields({
  state: oneOf("state", ["solved", "unsolvable", "unimported"]),
  before: inside("before", amount).optional(),
  after: inside("after", amount).optional(),
  added: inside("added", arrayOf("package", changedPackage)),
  removed: inside("removed", arrayOf("package", changedPackage)),
  problems: inside("problems", arrayOf("problem", problem)),
});

export const softwareEffect = document("SoftwareEffect", "software_effect", effect);
