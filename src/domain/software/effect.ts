import { nevra } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { unimportedIssue } from "#domain/appliances/status";
import { changeBetween, changed, type SoftwareChange } from "#domain/software/change";
import { closestNames } from "#domain/software/closest-names";
import { keyOfJob, problemWords } from "#domain/software/problem-words";
import { resolve, type SoftwareProblem, type SoftwareResolution } from "#domain/software/resolution";
import { loadSoftware, type ApplianceSoftware, type Choice } from "#domain/software/resolution-request";
import { keyOf } from "#domain/software/selection-rules";
import type { ResolvedPackage } from "#lib/solver/resolution";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";

/** How much an image contains. */
interface Amount {
  packages: number;
  downloadBytes: number;
  installedBytes: number;
}

/** A solution, in the form of a change of the stored software. */
export interface Solution {
  text: string;
  change: SoftwareChange;
}

export interface EffectProblem {
  text: string;
  /** The text for people. The API uses libsolv's text instead. */
  words: string;
  /** Names that the user probably meant, if the problem is an unknown name. */
  meant: string[];
  solutions: Solution[];
}

/** The effect that a change would have. */
export interface SoftwareEffect {
  state: SoftwareResolution["state"];
  /** Undefined if the software does not resolve now. */
  before: Amount | undefined;
  /** Undefined if the software would not resolve. */
  after: Amount | undefined;
  /** A package whose version changes is in both lists. The lists are empty unless both amounts are known. */
  added: ResolvedPackage[];
  removed: ResolvedPackage[];
  problems: EffectProblem[];
}

/** A change of an appliance's software, simulated for an account that may read it. */
export interface EffectRequest {
  appliance: Appliance;
  accountId: number;
  change: SoftwareChange;
  /** Aborted when no one needs the answer any longer, which stops the resolution. */
  signal: AbortSignal;
}

/** Resolves the software with and without a change. The isolate caches both results. */
export async function effectOf(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { appliance, accountId, change, signal }: EffectRequest,
): Promise<SoftwareEffect> {
  const software = await loadSoftware(db, appliance);
  const wanted = await changed({ db }, { software, appliance, accountId }, change);
  return await effectBetween({ env, db }, { software, wanted }, signal);
}

/** The effect of replacing the stored software with the wanted software. */
export async function effectBetween(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { software, wanted }: Both,
  signal: AbortSignal,
): Promise<SoftwareEffect> {
  const is = await resolve({ env, db }, wanted, signal);
  const was = await resolve({ env, db }, software, signal);
  const [before, after] = [was, is].map((one) => (one.state === "solved" ? one.packages : undefined));
  return {
    state: is.state,
    before: before && amountOf(before),
    after: after && amountOf(after),
    added: before && after ? without(after, before) : [],
    removed: before && after ? without(before, after) : [],
    problems: await problemsOf(db, { software, wanted }, is),
  };
}

const amountOf = (packages: readonly ResolvedPackage[]): Amount => ({
  packages: packages.length,
  downloadBytes: packages.reduce((sum, { downloadSizeBytes }) => sum + downloadSizeBytes, 0),
  installedBytes: packages.reduce((sum, { installSizeBytes }) => sum + installSizeBytes, 0),
});

function without(packages: readonly ResolvedPackage[], others: readonly ResolvedPackage[]): ResolvedPackage[] {
  const known = new Set(others.map(nevra));
  return packages.filter((one) => !known.has(nevra(one)));
}

/** The stored software, and the software after the change. */
interface Both {
  software: ApplianceSoftware;
  wanted: ApplianceSoftware;
}

/** How many unknown names get suggestions. */
const maxExplained = 10;

async function problemsOf(db: Database, both: Both, resolution: SoftwareResolution): Promise<EffectProblem[]> {
  switch (resolution.state) {
    case "solved":
      return [];
    case "unimported":
      return resolution.repositories.map((one) => {
        const { text } = unimportedIssue(one);
        return { text, words: text, meant: [], solutions: [] };
      });
    case "unsolvable":
      return await Promise.all(
        resolution.problems.map(async (problem, nth) => {
          const unknown = nth < maxExplained ? problem.unknown : undefined;
          const meant = unknown ? await closestNames(db, both.wanted, unknown) : [];
          const words = problemWords(problem, both.wanted);
          return { text: problem.text, words, meant, solutions: solutionsOf(both, problem, meant) };
        }),
      );
    default:
      return resolution satisfies never;
  }
}

/**
 * First the names that the user probably meant, then those of libsolv's proposals that can be carried out by changing
 * the selection.
 */
function solutionsOf({ software, wanted }: Both, problem: SoftwareProblem, meant: readonly string[]): Solution[] {
  const { unknown, install, ways } = problem;
  const leading = (text: string, selection: Choice[]): Solution => ({
    text,
    change: changeBetween(software, { ...wanted, selection }),
  });
  const renamed = meant.map((name) =>
    leading(`install ${name} instead`, replaced(wanted.selection, unknown && keyOf(unknown), { name })),
  );
  const unpinned =
    install === undefined
      ? []
      : [
          leading(
            `install ${install} in any version`,
            replaced(wanted.selection, keyOf({ kind: "package", name: install }), {
              version: null,
              repositoryId: null,
            }),
          ),
        ];
  const proposed = ways.flatMap(({ text, drops }) => {
    const keys = new Set(drops?.map(keyOfJob));
    const left = wanted.selection.filter((one) => !keys.has(keyOf(one)));
    return keys.size > 0 && left.length === wanted.selection.length - keys.size ? [leading(text, left)] : [];
  });
  return [...renamed, ...unpinned, ...proposed];
}

const replaced = (selection: readonly Choice[], key: string | undefined, by: Partial<Choice>): Choice[] => [
  ...new Map(
    selection.map((one) => (keyOf(one) === key ? { ...one, ...by } : one)).map((one) => [keyOf(one), one]),
  ).values(),
];
