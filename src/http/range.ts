export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * The single range of a Range header (RFC 9110 §14). Undefined means to answer with the whole file, which is also
 * correct for several ranges and for an invalid header.
 */
export function rangeOf(header: string | null, size: number): ByteRange | "unsatisfiable" | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "");
  const [, first = "", last = ""] = found ?? [];
  if (!found || (first === "" && last === "")) return undefined;
  if (first === "") return suffix(Number(last), size);
  const [from, to] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== "" && Number(last) < from) return undefined;
  return from >= size ? "unsatisfiable" : { offset: from, length: to - from + 1 };
}

/** `bytes=-N`: the last N bytes. */
function suffix(count: number, size: number): ByteRange | "unsatisfiable" {
  if (count === 0 || size === 0) return "unsatisfiable";
  const length = Math.min(count, size);
  return { offset: size - length, length };
}
