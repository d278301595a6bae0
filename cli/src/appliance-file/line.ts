import { isMap, isNode, isScalar, isSeq, type Document, type LineCounter } from "yaml";
import type { Path } from "./check.ts";

/** The line of a value, or of the innermost existing value around it. The line of a member is that of its key. */
export function lineOf({ contents }: Pick<Document, "contents">, path: Path, lines: LineCounter): number {
  let node: unknown = contents;
  let offset = offsetOf(node) ?? 0;
  for (const part of path) {
    const next = memberOf(node, part);
    offset = offsetOf(next?.mark) ?? offset;
    node = next?.node;
  }
  return lines.linePos(offset).line;
}

function memberOf(node: unknown, part: string | number): { mark: unknown; node: unknown } | undefined {
  if (isSeq(node) && typeof part === "number") return { mark: node.items[part], node: node.items[part] };
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === part) : undefined;
  return pair && { mark: pair.key, node: pair.value };
}

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);
