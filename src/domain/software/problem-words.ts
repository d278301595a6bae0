import type { SoftwareProblem } from "#domain/software/resolution";
import type { ApplianceSoftware, Choice } from "#domain/software/resolution-request";
import { keyOf } from "#domain/software/selection-rules";
import type { Job } from "#lib/solver/job";

type Wanted = Exclude<Job, { kind: "multiversion" }>;

/** Explains to the user why the software does not resolve, in terms of what they have selected and banned. */
export function problemWords(
  { text, ways, install, unknown }: SoftwareProblem,
  { selection }: Pick<ApplianceSoftware, "selection">,
): string {
  const own = new Map(selection.map((choice) => [keyOf(choice), choice]));
  const jobs = [...new Map(ways.flatMap(({ drops = [] }) => drops).flatMap(named)).values()];
  const bans = jobs.filter(({ kind }) => kind === "ban").map(({ name }) => name);
  const chosen = jobs.filter(({ kind }) => kind !== "ban").flatMap((job) => own.get(keyOfJob(job)) ?? []);
  if (unknown && own.has(keyOf(unknown))) return `No ${unknown.kind} is called ${unknown.name}.`;
  if (bans.length > 0) return `You banned ${listed(bans)}, which ${whoNeeds(chosen)}.`;
  const pinned = chosen.find(({ name, version }) => name === install && version !== null);
  if (pinned) return `No repository has the version ${pinned.version} of ${pinned.name}.`;
  if (chosen.length === 0) return sentence(text);
  const names = chosen.map(nameOf);
  const together = names.length > 1 ? " together" : "";
  return `${capitalised(listed(names))} cannot be installed${together}: ${sentence(text)}`;
}

const named = (job: Job): [string, Wanted][] => (job.kind === "multiversion" ? [] : [[keyOfJob(job), job]]);

/** The entry of the selection that a job was made from. */
export function keyOfJob(job: Job): string {
  if (job.kind === "multiversion") return "";
  const kinds = { install: "package", installPattern: "pattern", ban: "ban" } as const;
  return keyOf({ kind: kinds[job.kind], name: job.name });
}

/** Names what needs the package. If no entry of the selection does, it is the base system. */
function whoNeeds(chosen: readonly Choice[]): string {
  if (chosen.length === 0) return "the base system needs";
  return `${listed(chosen.map(nameOf))} ${chosen.length === 1 ? "needs" : "need"}`;
}

const nameOf = ({ kind, name }: Choice): string => (kind === "pattern" ? `the pattern ${name}` : name);

/** Lists names: "a", "a and b", "a, b and c". */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  const others = names.slice(0, -1).join(", ");
  return others === "" ? last : `${others} and ${last}`;
}

const capitalised = (text: string): string => text.replace(/^the /, "The ");
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
