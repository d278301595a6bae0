import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorsOf, commentsOf, headingsOf, linksOf, pages, sources, textOf } from "./written.ts";

/** The number of a decision at the beginning of its file. */
const numberOf = (path: string): number | undefined => {
  const digits = /docs\/decisions\/(\d{4})-/.exec(path)?.[1];
  return digits === undefined ? undefined : Number(digits);
};
const decisions = new Set(pages.map(numberOf));

describe("the pages", () => {
  const links = pages.flatMap((page) =>
    linksOf(page).map((link) => ({ ...link, page, target: link.path === "" ? page : join(dirname(page), link.path) })),
  );

  it("link to files and headings that exist", () => {
    const lost = links.filter(
      ({ target, anchor }) => !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor)),
    );

    expect(links.length).toBeGreaterThan(300);
    expect(lost.map(({ page, path, anchor }) => `${page}: ${path}#${anchor ?? ""}`)).toEqual([]);
  });

  it("are each linked to by another", () => {
    const linked = new Set(links.filter(({ page, target }) => page !== target).map(({ target }) => target));

    expect(pages.filter((page) => page !== "README.md" && !linked.has(page))).toEqual([]);
  });

  it("list every decision in their index", () => {
    const index = "docs/decisions/README.md";
    const listed = links.filter(({ page }) => page === index).map(({ target }) => target);

    expect(listed.toSorted()).toEqual(pages.filter((page) => numberOf(page) !== undefined));
  });

  it("link to the decision whose number they say", () => {
    const wrong = links.filter(({ text, target }) => {
      const said = /^decision\s+(\d+)$/i.exec(text)?.[1];
      return said !== undefined && numberOf(target) !== Number(said);
    });

    expect(wrong.map(({ page, text, path }) => `${page}: ${text} is ${path}`)).toEqual([]);
  });

  it("name decisions that exist", () => {
    expect(pages.flatMap((page) => lostDecisionsIn(page, textOf(page)))).toEqual([]);
  });
});

describe("the comments", () => {
  const texts = sources.map((path) => ({ path, text: commentsOf(path) }));

  it("name decisions that exist", () => {
    expect(texts.flatMap(({ path, text }) => lostDecisionsIn(path, text))).toEqual([]);
  });

  it("cite pages and headings that exist", () => {
    const citations = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w*./-])([\w./-]+\.md)((?:, "[^"]+")*)/g)].map(([cited, page = "", quoted = ""]) => ({
        said: `${path}: ${cited}`,
        page: pageOf(page, path),
        headings: [...quoted.matchAll(/"([^"]+)"/g)].map(([, heading = ""]) => heading),
      })),
    );
    const lost = citations.filter(
      ({ page, headings }) =>
        page === undefined || headings.some((heading) => !headingsOf(page).includes(heading.replaceAll("`", ""))),
    );

    expect(citations.length).toBeGreaterThan(80);
    expect(lost.map(({ said }) => said)).toEqual([]);
  });
});

/** The numbers in "decision 22" and "decisions 28 and 29" that belong to no decision. */
function lostDecisionsIn(path: string, text: string): string[] {
  return [...text.matchAll(/\bdecisions?\s+(\d+)(?:\s+and\s+(\d+))?/gi)]
    .flatMap(([, ...numbers]) => numbers.filter((number) => number !== undefined))
    .filter((number) => !decisions.has(Number(number)))
    .map((number) => `${path}: decision ${number}`);
}

/** The page that a file cites: by path from the root or from the file, or by a name that only one page of docs has. */
function pageOf(cited: string, path: string): string | undefined {
  const known = [cited, ...foldersOf(path).map((folder) => join(folder, cited))].find((page) => pages.includes(page));
  const named = pages.filter((page) => page.startsWith("docs/") && basename(page) === cited);
  return known ?? (named.length === 1 ? named[0] : undefined);
}

/** The folder of a file, and the folders around it. */
const foldersOf = (path: string): string[] => {
  const folder = dirname(path);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
};
