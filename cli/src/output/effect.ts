import type { AnswerOf } from "../client/client.ts";
import type { Painter } from "./painter.ts";
import { bytes, count, visible } from "./table.ts";

type Effect = AnswerOf<"getSoftwareEffect">["software_effect"];

/** The solution of a problem: commands for an appliance, edits of a file. Undefined if the change must not be made. */
type Remedy = (solution: { text: string; change: Change }) => string | undefined;

/** The effect of a change on the image, or why it cannot be installed and what to do. */
export function effectText(
  paint: Painter,
  remedy: Remedy,
  { added, removed, before, after, problems, state }: Effect,
): string {
  if (state === "unimported") return "A repository is still being imported: what changes is not known yet.";
  if (state === "unsolvable") return problems.flatMap((one) => problemLines(paint, remedy, one)).join("\n");
  if (!before) return `The software can be installed again: ${count(after?.packages ?? 0, "package")}.`;
  const grown = (after?.installed_size ?? 0) - before.installed_size;
  const counts = [
    added.length > 0 && `+${count(added.length, "package")}`,
    removed.length > 0 && `-${count(removed.length, "package")}`,
    grown !== 0 && `${grown > 0 ? "+" : "-"}${bytes(Math.abs(grown))}`,
  ].filter((part) => part !== false);
  if (counts.length === 0) return "Nothing changes in the image.";
  const lines = [
    ...added.map(({ name, version }) => paint.green(`  + ${name} ${version}`)),
    ...removed.map(({ name, version }) => paint.red(`  - ${name} ${version}`)),
  ];
  const rest = lines.length > maxLines ? [`  and ${lines.length - maxLines} more; --json lists all`] : [];
  return [counts.join(", "), ...lines.slice(0, maxLines), ...rest].join("\n");
}

const maxLines = 20;

export type Change = Effect["problems"][number]["solutions"][number]["change"];

function problemLines(
  paint: Painter,
  remedy: Remedy,
  { text, meant, solutions }: Effect["problems"][number],
): string[] {
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(" or ")}?` : "";
  return [
    `${paint.red("error")}: ${visible(text)}.${hint}`,
    ...solutions.flatMap((one) => {
      const solved = remedy(one);
      return solved === undefined ? [] : [`  ${visible(solved)}`];
    }),
  ];
}

export const byCommands =
  (appliance: string): Remedy =>
  ({ text, change }) => {
    const commands = commandsFor(appliance, change);
    return commands.length === 0 ? undefined : `${text}: ${commands.join("; ")}`;
  };

/** `add_package` in a solution becomes `kiln add`. */
const commandsFor = (appliance: string, change: Change): string[] =>
  Object.entries(change)
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => {
      const [verb = "", what] = kind.split("_");
      if (what === "repository") return `kiln repo ${verb} ${appliance} ${names.join(" ")}`;
      return `kiln ${verb}${what === "pattern" ? " --pattern" : ""} ${appliance} ${names.join(" ")}`;
    });
