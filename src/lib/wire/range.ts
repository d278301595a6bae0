import { shownIn, type AnyShape, type Part } from "#lib/wire/shape";

interface OutOfRange {
  path: string;
  why: string;
}

/** The numbers outside their limits. */
export function outOfRange(shape: AnyShape, value: unknown, path = ""): OutOfRange[] {
  if (shape.kind !== "fields") return [];
  return shownIn("v2", shape).flatMap(([name, part]) => {
    const inner = part.key === undefined ? value : propertyOf(value, part.key);
    const at = path === "" ? name : `${path}/${name}`;
    return [...complaintOf(part, inner, at), ...outOfRange(part.shape, inner, at)];
  });
}

function complaintOf({ range }: Part, value: unknown, path: string): OutOfRange[] {
  if (!range || typeof value !== "number" || (value >= range.min && value <= range.max)) return [];
  const { min, max, unit } = range;
  return [{ path, why: `must be ${min} to ${max}${unit && ` ${unit}`}` }];
}

const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
