/** The jobs of a solver request, and their text form for native/jobs.c. */

/** `repository` is a name given to `addRepository`. */
export type Job =
  | { kind: "install"; name: string; version?: string | undefined; repository?: string | undefined }
  | { kind: "installPattern"; name: string }
  /** Never installed, not even as a recommendation. */
  | { kind: "ban"; name: string }
  /** Packages that provide the capability may be installed in several versions, e.g. `multiversion(kernel)`. */
  | { kind: "multiversion"; capability: string };

/** A field contains characters that would change the meaning of its line. */
class InvalidJob extends Error {}

/** One line per job, with six tab-separated fields: action, kind, value, operator, evr, repository. */
export function jobLines(jobs: readonly Job[]): string {
  return jobs.map((job) => fields(job).join("\t")).join("\n");
}

function fields(job: Job): string[] {
  switch (job.kind) {
    case "install":
      return ["install", "name", name(job.name), ...pin(job.version), repository(job.repository)];
    case "installPattern":
      return ["install", "pattern", name(job.name), "", "", ""];
    case "ban":
      return ["ban", "name", name(job.name), "", "", ""];
    case "multiversion":
      return ["multiversion", "provides", capability(job.capability), "", "", ""];
    default:
      return job satisfies never;
  }
}

// Stricter than rpm's own rules for names and versions, so that libsolv sees no glob, relation or list.
const name = matching("name", /^[A-Za-z0-9_/][A-Za-z0-9._+:/()-]{0,249}$/);
const version = matching("version", /^(\d{1,9}:)?[A-Za-z0-9][A-Za-z0-9._+~^]{0,127}(-[A-Za-z0-9._+~^]{1,127})?$/);
const capability = matching("capability", /^[A-Za-z0-9_/][A-Za-z0-9._+:/()-]{0,249}$/);
const repositoryName = matching("repository", /^[^\p{Cc}]{1,250}$/u);

const pin = (wanted: string | undefined): string[] => (wanted === undefined ? ["", ""] : ["=", version(wanted)]);
const repository = (wanted: string | undefined): string => (wanted === undefined ? "" : repositoryName(wanted));

function matching(field: string, pattern: RegExp): (value: string) => string {
  return (value) => {
    if (pattern.test(value)) return value;
    throw new InvalidJob(`not a ${field}: ${JSON.stringify(value)}`);
  };
}
