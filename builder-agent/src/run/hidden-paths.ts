import { dirname } from "node:path";
import { insideGuest } from "../guest/job-disk.ts";
import { kiwiPathsAt, shims } from "./kiwi.ts";

interface Paths {
  workDir: string;
  stateDir: string;
}

/**
 * Rewrites texts for the owner of an appliance. The path of the image's tree becomes the image's own path, and folders
 * of this host are removed: owners cannot use them, and they show how the host is set up.
 */
export function hidingPaths({ workDir, stateDir }: Paths): (text: string) => string {
  const { root } = kiwiPathsAt(workDir);
  // KIWI mounts the packages below the image's tree, at their own path, and afterwards removes each folder above them.
  const above = foldersAbove(stateDir).map((path): Rule => [exactly(root + path), "/"]);
  const roots = [root, insideGuest.root].map((path): Rule => [within(path), "/"]);
  const folders = [workDir, stateDir, dirname(shims)].map((path): Rule => [within(path), ""]);
  const rules = [...above, ...roots, ...folders];
  return (text) => rules.reduce((rewritten, [path, shown]) => rewritten.replaceAll(path, shown), text);
}

type Rule = readonly [path: RegExp, shown: string];

/** The folders above a path, without those that every system has, such as /var. */
const foldersAbove = (path: string): string[] =>
  path
    .split("/")
    .map((_, count, names) => names.slice(0, count).join("/"))
    .filter((folder) => folder.split("/").length > 2);

/** The folder itself, and nothing in it. */
const exactly = (folder: string): RegExp => new RegExp(String.raw`${RegExp.escape(folder)}(?![\w./-])`, "g");

/** The folder with the slash after it, but neither as a part of another path nor as the beginning of another name. */
const within = (folder: string): RegExp =>
  new RegExp(String.raw`(?<![\w.-])${RegExp.escape(folder)}(?:/|(?![\w.-]))`, "g");
