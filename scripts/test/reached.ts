import type { Imports } from "./imports.ts";

/** The tests to run for a change. */
export interface Reached {
  tests: string[];
  /** Number of further tests that import a changed file indirectly. */
  further: number;
  /** Changed files without a test. */
  untested: string[];
}

/** The limit of tests per file. More would take too long. */
const maxPerFile = 8;
/** How many of them may be in the file's folder. */
const maxOfRoom = 3;
const wide = /[/](?:every-\w+|document-properties|head-length|image-\w+|image-with-\w+|solver-zypper)\.test\.ts$/;
/** Whether a test covers every API call, or whole distributions. Most of its time has nothing to do with one change. */
export const isWide = (test: string): boolean => wide.test(test);
// Everything imports these, or they import everything.
const hub = /^src\/(?:app|index|(?:lib\/)?[\w-]+\/index|storage\/(?:db|schema))\.ts$/;

/** Tests of the same noun first, then those that import a changed file, the nearest first. */
export function reachedBy(changed: readonly string[], imports: Imports): Reached {
  const importers = reversed(imports);
  const found = changed.map((file) => ({ file, ...testsOf(file, { imports, importers }) }));
  return {
    tests: [...new Set(found.flatMap(({ tests }) => tests))].toSorted(),
    further: found.reduce((sum, { further }) => sum + further, 0),
    untested: found.filter(({ tests }) => tests.length === 0).map(({ file }) => file),
  };
}

function testsOf(file: string, graph: { imports: Imports; importers: Imports }): { tests: string[]; further: number } {
  if (isTest(file)) return { tests: [file], further: 0 };
  const all = [...graph.imports.keys()].filter(isQuickTest);
  const named = sameNoun(file, all);
  const near = [...nearest(file, graph.importers)].filter((one) => all.includes(one) && !isWide(one));
  const found = [...new Set([...named, ...sameRoom(file, all).slice(0, maxOfRoom), ...near])];
  if (found.length > 0) return { tests: found.slice(0, maxPerFile), further: Math.max(0, found.length - maxPerFile) };
  // An entry point's files are imported only within it, so this uses the tests of the files that they call.
  const called = (graph.imports.get(file) ?? []).filter((one) => !hub.test(one));
  return { tests: [...new Set(called.flatMap((one) => sameNoun(one, all)))].slice(0, maxPerFile), further: 0 };
}

const isTest = (file: string): boolean => file.endsWith(".test.ts");

/** Whether a test needs no whole service. */
export const isQuickTest = (file: string): boolean => isTest(file) && !file.startsWith("test/acceptance/");

/** The files that import this one, directly or indirectly, the nearest first. */
function* nearest(file: string, importers: Imports): Generator<string> {
  const seen = new Set([file]);
  for (const one of seen) {
    if (one !== file) yield one;
    if (one === file || !hub.test(one)) for (const importer of importers.get(one) ?? []) seen.add(importer);
  }
}

/**
 * src/domain/contents/overlay-file.ts: overlay-files.test.ts and overlay-file-metadata.test.ts, in any folder, those of
 * test/domain first.
 */
function sameNoun(file: string, tests: readonly string[]): string[] {
  const [name = "", folder = ""] = file
    .replace(/\.\w+$/, "")
    .split("/")
    .toReversed();
  const nouns = [name === "index" ? folder : name, `${folder}-${name}`].map(singular);
  const isOf = (test: string) => {
    if (partOf(test) !== partOf(file)) return false;
    const noun = singular(test.replace(/^.*\/|\.test\.ts$/g, ""));
    return nouns.some((one) => noun === one || noun.startsWith(`${one}-`));
  };
  return tests.filter(isOf).toSorted((one, other) => distance(file, one) - distance(file, other));
}

/** 0 for a test of the same part of the service, such as test/web for src/web. Otherwise 1. */
const distance = (file: string, test: string): number =>
  test.startsWith(file.replace(/^src\/(\w+\/).*/, "test/$1")) ? 0 : 1;

/**
 * src/web/pages/account/tokens.tsx: account.test.ts and account/*.test.ts, in any folder; those of test/web, and with
 * exactly this name, come first. Pages and calls are reached through the Worker's entry, which imports do not show.
 */
function sameRoom(file: string, tests: readonly string[]): string[] {
  const [, room] = /^src\/\w+\/(?:.*\/)?([\w-]+)\/[^/]+$/.exec(file) ?? [];
  if (room === undefined) return [];
  const named = new RegExp(`^test/\\w+/${singular(room)}s?([-/.])`);
  const found = tests.flatMap((test) => {
    const next = named.exec(test)?.[1];
    return next === undefined ? [] : [{ test, rank: distance(file, test) + (next === "." ? 0 : 2) }];
  });
  return found.toSorted((one, other) => one.rank - other.rank).map(({ test }) => test);
}

const partOf = (file: string): string =>
  /^(?:builder-agent|cli|(?:test[/])?scripts)(?=[/])/.exec(file)?.[0].replace("test/", "") ?? "src";

/** Each word without its s: accounts-removal and account-removal are the same. */
const singular = (noun: string): string => noun.replaceAll(/s(?=-|$)/g, "");

function reversed(imports: Imports): Imports {
  const importers = new Map<string, string[]>();
  for (const [file, named] of imports)
    for (const one of named) importers.set(one, [...(importers.get(one) ?? []), file]);
  return importers;
}
