import { shownIn, type AnyShape, type Part } from "#wire/shape";

/** The path of a number outside its limits, and the reason; undefined: none. */
export function outOfRange(shape: AnyShape, value: unknown, path = ""): { path: string; why: string } | undefined {
  if (shape.kind !== "fields") return undefined;
  for (const [name, part] of shownIn("v2", shape)) {
    const inner = part.key === undefined ? value : propertyOf(value, part.key);
    const at = path === "" ? name : `${path}/${name}`;
    const found = complaintOf(part, inner, at) ?? outOfRange(part.shape, inner, at);
    if (found) return found;
  }
  return undefined;
}

function complaintOf({ range }: Part, value: unknown, path: string) {
  if (!range || typeof value !== "number" || (value >= range.min && value <= range.max)) return undefined;
  const { min, max, unit } = range;
  return { path, why: `must be ${min} to ${max}${unit && ` ${unit}`}` };
}

const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
