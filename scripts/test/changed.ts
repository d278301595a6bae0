import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../launch/project.ts";
import { readImports } from "./imports.ts";
import { reachedBy, type Reached } from "./reached.ts";

const git = (...args: string[]): string[] =>
  execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).split("\n").filter(Boolean);

/** The tests for uncommitted changes and for changes since the commit, or since the branch left main. */
export function reachedSince(commit: string | undefined): Reached {
  const [base = "HEAD"] = commit === undefined ? branchingPoint() : [commit];
  const changed = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
  const files = git("ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx").filter(isThere);
  return reachedBy([...new Set(changed)].filter(isThere), readImports(projectRoot, files));
}

function branchingPoint(): string[] {
  const [main] = git("for-each-ref", "--format=%(objectname)", "refs/heads/main", "refs/remotes/origin/main");
  return main === undefined ? [] : git("merge-base", "HEAD", main);
}

const isThere = (file: string): boolean => existsSync(join(projectRoot, file));

/** The project of test/vitest.config.ts that a test belongs to. */
export const projectOf = (test: string): "worker" | "node" | "acceptance" =>
  test.startsWith("test/acceptance/")
    ? "acceptance"
    : /^(?:builder-agent\/test|cli\/test|test\/scripts)\//.test(test)
      ? "node"
      : "worker";
