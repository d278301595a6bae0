import { shownPermissions } from "#lib/contract/file-mode";
import { textOf, type Imported, type ImportedFile, type NextTo, type Omission } from "#lib/kiwi/import/imported";

/**
 * Reads the files next to a description that Kiln has not written: a script for the end of the build, and files of the
 * image below `root/`.
 */
export function foreignFiles({ files }: NextTo): Imported {
  const found: ImportedFile[] = [];
  const omitted: Omission[] = [];
  const script = textOf(files.get("config.sh")?.content);
  for (const [path, { content, mode }] of files) {
    const [, inImage] = /^root(\/.+)$/.exec(path) ?? [];
    if (inImage !== undefined)
      found.push({
        path: inImage,
        owner: "root",
        group: "root",
        permissions: shownPermissions(mode),
        content,
      });
    else if (/^[^/]+\.sh$/.test(path) && path !== "config.sh")
      omitted.push({ what: path, why: "an appliance has only one script of a description, config.sh" });
  }
  omitted.push(...ofKiwi(script ?? ""));
  const scripts = script === undefined ? {} : { scripts: { build: { enabled: true, script } } };
  return { definition: { packages: [], patterns: [], bans: [], configuration: scripts }, files: found, omitted };
}

/** Names the functions and variables of KIWI that a script uses. An unset variable would be empty, without an error. */
function ofKiwi(script: string): Omission[] {
  const functions = [...new Set(script.match(/\b(?:base|suse)[A-Z]\w+|\/\.kconfig\b/g))];
  const variables = [...new Set(script.match(/\bkiwi_\w+/g))].map((name) => `$${name}`);
  return [
    ...named("functions of KIWI", functions, "a build script has none: see what it calls"),
    ...named("variables of KIWI", variables, "a build script has none: write their values out"),
  ];
}

const named = (kind: string, names: readonly string[], why: string): Omission[] =>
  names.length === 0 ? [] : [{ what: `config.sh (${kind}: ${names.join(", ")})`, why }];
