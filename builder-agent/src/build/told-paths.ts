import { dirname } from "node:path";
import { insideGuest } from "../guest/job-disk.ts";
import { kiwiPlaceAt, shims } from "./kiwi.ts";

interface Places {
  /** Of the build. */
  workDir: string;
  /** Of the agent. */
  stateDir: string;
}

/**
 * Rewrites texts for the owner of an appliance. The path of the image's tree becomes the image's own path, and folders of this host
 * are left out: owners cannot use them, and they show how the host is set up.
 */
export function tellingPaths({ workDir, stateDir }: Places): (text: string) => string {
  const roots = [kiwiPlaceAt(workDir).root, insideGuest.root].map((path): Rule => [within(path), "/"]);
  const folders = [workDir, stateDir, dirname(shims)].map((path): Rule => [within(path), ""]);
  const rules = [...roots, ...folders];
  return (text) => rules.reduce((told, [path, shown]) => told.replaceAll(path, shown), text);
}

type Rule = readonly [path: RegExp, shown: string];

/** The folder with the slash after it, but neither as a part of another path nor as the beginning of another name. */
const within = (folder: string): RegExp =>
  new RegExp(String.raw`(?<![\w.-])${RegExp.escape(folder)}(?:/|(?![\w.-]))`, "g");
