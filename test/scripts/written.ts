import { globSync, readFileSync } from "node:fs";

const isMade = (path: string) => /(^|\/)(node_modules|dist)(\/|$)|^\.kiln/.test(path);

const inFolders = (folders: string, files: string): string[] =>
  globSync([files, `${folders}/**/${files}`], { exclude: isMade }).toSorted();

/** Every page of the project, by its path from the root. */
export const pages = inFolders("{docs,bench,builder-agent,cli,sample-distribution}", "*.md");

/** Every file of the project that can have comments. */
export const sources = inFolders(
  "{src,test,scripts,bench,builder-agent,cli,sample-distribution,templates,.github}",
  "*.{ts,tsx,mjs,css,c,h,py,sh,conf,toml,yml}",
);

/** Files do not change while tests run, and most tests need the headings of the same few pages. */
const texts = new Map<string, string>();

export function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(path, "utf8");
  texts.set(path, text);
  return text;
}

/** A page without its examples. */
const proseOf = (page: string): string => textOf(page).replaceAll(/^ *(```+)[\s\S]*?^ *\1$/gm, "");

interface Link {
  text: string;
  /** Empty if the link is to a heading of its own page. */
  path: string;
  anchor: string | undefined;
}

/** The links of a page to files of the project. */
export const linksOf = (page: string): Link[] =>
  [...proseOf(page).matchAll(/\[([^\]]*)\]\((?!\w+:|\/)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, text = "", path = "", anchor]) => ({ text, path, anchor }),
  );

export const headingsOf = (page: string): string[] =>
  [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title.replaceAll("`", ""));

/** The anchors of a page's headings, as they are made on GitHub. */
export const anchorsOf = (page: string): string[] =>
  headingsOf(page).map((title) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );

const commentLine = /^\s*(?:\/\*\*?|\*\/?|\/\/|#)\s?(.*)$/;
const afterCode = /\s\/\/ (.*)$/;

/** The text of a file's comments. A citation may continue on the next line. */
export const commentsOf = (path: string): string =>
  textOf(path)
    .replaceAll(/\w+:\/\/\S+/g, "")
    .split("\n")
    .map((line) => (commentLine.exec(line) ?? afterCode.exec(line))?.[1] ?? "\n")
    .join(" ");
