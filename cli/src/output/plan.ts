import type { Plan } from "../appliance-file/apply.ts";
import { effectText } from "./effect.ts";
import type { Painter } from "./painter.ts";
import { visible } from "./table.ts";

/**
 * The changes that a file would make to an appliance, and the effect on its image. Without an id, the appliance is new.
 */
export function planText(
  paint: Painter,
  { name, base_system: base }: { name: string; base_system?: string },
  { plan, id }: { plan: Plan; id: number | undefined },
): string {
  const { changes, software } = plan;
  const called = visible(name);
  if (changes.length === 0 && id !== undefined) return `${called}, appliance ${id}, is what the file says.`;
  const title =
    id === undefined ? `${called}, a new appliance of ${base ?? "its base"}:` : `${called}, appliance ${id}:`;
  return [title, ...changes.map((one) => changeLine(paint, one)), effectText(paint, undefined, software)].join("\n");
}

const told = (text = ""): string => (text === "" ? "" : `: ${visible(text)}`);

function changeLine(paint: Painter, { name, item, from, to }: Plan["changes"][number]): string {
  const what = visible(item === undefined ? name : `${name} ${item}`);
  // Only items of a list are added. A list in another order has no item, and no password is shown.
  const isChanged = item === undefined || name.endsWith("/password");
  if (from === undefined && isChanged) return paint.yellow(`  ~ ${what}${told(to)}`);
  if (from === undefined) return paint.green(`  + ${what}${told(to)}`);
  if (to === undefined) return paint.red(`  - ${what}${told(from)}`);
  return paint.yellow(`  ~ ${what}: ${visible(from) || "(none)"} -> ${visible(to) || "(none)"}`);
}
