import type { BaseSystemFacts } from "#domain/catalogue";
import {
  findBaseSystem,
  listApplianceRepositories,
  listSelection,
  type Appliance,
  type Repository,
  type Selection,
} from "#storage/appliances";
import type { Database } from "#storage/db";

/** What stands in the way of a build, or might surprise its user (wire.md §2.3). */
export interface Issue {
  type: "error" | "warning";
  text: string;
  solution?: { type: "install"; package: string };
}

export interface ApplianceStatus {
  state: "ok" | "error";
  issues: Issue[];
}

/** Checks what is known without a solver: repositories, and a kernel and a boot loader among the selection. */
export async function applianceStatus(db: Database, appliance: Appliance): Promise<ApplianceStatus> {
  const [baseSystem, repositories, selection] = await Promise.all([
    findBaseSystem(db, appliance.baseSystem),
    listApplianceRepositories(db, appliance.id),
    listSelection(db, appliance.id),
  ]);
  const issues = [
    ...repositoryIssues(appliance, repositories),
    ...(baseSystem ? bootIssues(baseSystem.facts, selection) : [lostBaseSystem]),
  ];
  return { state: issues.some(({ type }) => type === "error") ? "error" : "ok", issues };
}

const lostBaseSystem: Issue = { type: "error", text: "The base system of the appliance is gone." };

function repositoryIssues({ arch }: Appliance, repositories: Repository[]): Issue[] {
  if (repositories.length === 0) return [{ type: "error", text: "The appliance has no repository." }];
  if (repositories.some(({ arches }) => arches.includes(arch))) return [];
  return [{ type: "error", text: `None of the appliance's repositories has packages for ${arch}.` }];
}

function bootIssues(facts: BaseSystemFacts, selection: Selection[]): Issue[] {
  const names = selection.flatMap(({ kind, name }) => {
    if (kind === "package") return [name];
    return kind === "pattern" ? (facts.patterns[name] ?? []) : [];
  });
  return [
    ...missing(names, facts.kernels, "No kernel package is selected."),
    ...missing(names, facts.bootLoaders, "No boot loader is selected."),
  ];
}

function missing(names: string[], wanted: string[], text: string): Issue[] {
  const [first = ""] = wanted;
  if (wanted.some((name) => names.includes(name))) return [];
  return [{ type: "error", text, solution: { type: "install", package: first } }];
}
