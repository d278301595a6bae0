import type { AnswerOf } from "../client/client.ts";
import type { Painter } from "./painter.ts";
import { bytes, count, visible } from "./table.ts";

type Effect = AnswerOf<"getSoftwareEffect">["software_effect"];

/**
 * The effect of a change on the image, or why it cannot be installed. For an appliance, it names the commands that
 * solve a problem. For a file, the user must change the file.
 */
export function effectText(
  paint: Painter,
  appliance: string | undefined,
  { added, removed, before, after, problems, state }: Effect,
): string {
  if (state === "unimported") return "A repository is still being imported: what changes is not known yet.";
  if (state === "unsolvable") return problems.flatMap((one) => problemLines(paint, appliance, one)).join("\n");
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

/**
 * A problem, and the commands that would solve it. The solution not to make the change has no command, and is omitted.
 */
function problemLines(
  paint: Painter,
  appliance: string | undefined,
  { text, meant, solutions }: Effect["problems"][number],
): string[] {
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(" or ")}?` : "";
  return [
    `${paint.red("error")}: ${visible(text)}.${hint}`,
    ...solutions.flatMap(({ text: way, change: all }) => {
      if (appliance === undefined) return [`  ${visible(way)}`];
      const commands = commandsFor(appliance, all);
      return commands.length === 0 ? [] : [`  ${visible(way)}: ${commands.join("; ")}`];
    }),
  ];
}

/** `add_package` in a solution becomes `kiln add`. */
const commandsFor = (appliance: string, all: Effect["problems"][number]["solutions"][number]["change"]): string[] =>
  Object.entries(all)
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => {
      const [verb = "", what] = kind.split("_");
      if (what === "repository") return `kiln repo ${verb} ${appliance} ${names.join(" ")}`;
      return `kiln ${verb}${what === "pattern" ? " --pattern" : ""} ${appliance} ${names.join(" ")}`;
    });
