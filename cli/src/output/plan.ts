import type { Plan } from "../appliance-file/apply.ts";
import { memberNames } from "../appliance-file/setting-name.ts";
import { effectText, type Change } from "./effect.ts";
import type { Painter } from "./painter.ts";
import { visible } from "./table.ts";

/**
 * The changes that a file would make to an appliance, and the effect on its image. Without an id, the appliance is new.
 */
export function planText(
  paint: Painter,
  { name, base_system: base, arch }: { name: string; base_system?: string; arch?: string },
  { plan, id }: { plan: Plan; id: number | undefined },
): string {
  const { changes, software } = plan;
  const called = visible(name);
  if (changes.length === 0 && id !== undefined) return `${called}, appliance ${id}, matches the file.`;
  const title =
    id === undefined
      ? `${called}, a new appliance of ${base ?? "its base"}${arch === undefined ? "" : ` for ${arch}`}:`
      : `${called}, appliance ${id}:`;
  return [
    title,
    ...changes.map((one) => changeLine(paint, one)),
    effectText(paint, ({ change }) => editsOf(changes, change), software),
  ].join("\n");
}

/** The lists of a file, with the operations of a change that add to them or remove from them. */
const lists = [
  ["packages", "add_package", "remove_package"],
  ["patterns", "add_pattern", "remove_pattern"],
  ["bans", "ban_package", "unban_package"],
] as const;

/** How to edit a file that makes some changes, so that it makes another change. */
function editsOf(changes: Plan["changes"], change: Change): string | undefined {
  const edits = lists.flatMap(([list, add, remove]) => {
    const items = changes.filter(({ name }) => name === list);
    const added = items.flatMap(({ item = [], from }) => (from === undefined ? item : []));
    const removed = items.flatMap(({ item = [], to }) => (to === undefined ? item : []));
    return [
      ...[...without(added, change[add]), ...without(change[remove], removed)].map(
        (one) => `remove ${one} from ${list}`,
      ),
      ...[...without(removed, change[remove]), ...without(change[add], added)].map((one) => `add ${one} to ${list}`),
    ];
  });
  return edits.length === 0 ? undefined : edits.join("; ");
}

const without = (all: readonly string[], some: readonly string[]): string[] => all.filter((one) => !some.includes(one));

const suffix = (text = ""): string => (text === "" ? "" : `: ${visible(text)}`);

function changeLine(paint: Painter, { name, item, from, to }: Plan["changes"][number]): string {
  const named = memberNames(name.split("/")).join(".");
  const what = visible(item === undefined ? named : `${named} ${item}`);
  // Only items of a list are added. A list in another order has no item, and no password is shown.
  const isChanged = item === undefined || name.endsWith("/password");
  if (from === undefined && isChanged) return paint.yellow(`  ~ ${what}${suffix(to)}`);
  if (from === undefined) return paint.green(`  + ${what}${suffix(to)}`);
  if (to === undefined) return paint.red(`  - ${what}${suffix(from)}`);
  return paint.yellow(`  ~ ${what}: ${visible(from) || "(none)"} -> ${visible(to) || "(none)"}`);
}
