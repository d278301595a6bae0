import { shownIn, type AnyShape, type Part } from "#lib/wire/shape";

interface OutOfLimits {
  path: string;
  why: string;
}

/** The numbers and texts outside their limits. */
export function outOfLimits(shape: AnyShape, value: unknown, path = ""): OutOfLimits[] {
  if (shape.kind !== "fields") return [];
  return shownIn("v2", shape).flatMap(([name, part]) => {
    const inner = part.key === undefined ? value : propertyOf(value, part.key);
    const at = path === "" ? name : `${path}/${name}`;
    return [...complaintOf(part, inner, at), ...outOfLimits(part.shape, inner, at)];
  });
}

function complaintOf({ range, pattern }: Part, value: unknown, path: string): OutOfLimits[] {
  if (pattern && typeof value === "string" && !pattern.pattern.test(value)) return [{ path, why: pattern.why }];
  if (!range || typeof value !== "number" || (value >= range.min && value <= range.max)) return [];
  const { min, max, unit } = range;
  return [{ path, why: `must be ${min} to ${max}${unit && ` ${unit}`}` }];
}

const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
