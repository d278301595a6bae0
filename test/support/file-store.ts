import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { FileIndexWriter } from "../../builder-agent/src/run/file-index.ts";
import { orderOf, type FileEntry } from "#lib/contract/index";

/** The two artifacts of a file store, as an agent uploads them. */
export interface StoreBytes {
  files: Uint8Array<ArrayBuffer>;
  index: Uint8Array<ArrayBuffer>;
}

/** A file with this content, a link, or another kind of entry. */
export type Node = string | { link: string } | { type: "d" | "c" | "b" | "p" | "s" } | { entry: FileEntry };

/**
 * A store of these paths. Directories above them are added automatically. Each content is stored once, as by an agent.
 */
export function fileStoreOf(nodes: Record<string, Node>): StoreBytes {
  const paths = Object.keys(nodes);
  const dirs = paths.flatMap(dirsAbove).filter((dir) => !(dir in nodes));
  const all = [...new Set(["/", ...dirs, ...paths])].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const frames = new Map([["", zstdCompressSync("")]]);
  const index = new FileIndexWriter();
  for (const path of all) index.add(entryOf(path, nodes[path] ?? { type: "d" }, frames));
  return {
    files: Uint8Array.from(Buffer.concat([...frames.values()])),
    index: Uint8Array.from(Buffer.concat(index.end())),
  };
}

function entryOf(path: string, node: Node, frames: Map<string, Buffer>): FileEntry {
  const owned = { path, mode: 0o644, uid: 0, gid: 0, owner: "root", group: "root" };
  if (typeof node !== "string") {
    if ("entry" in node) return node.entry;
    return "link" in node ? { ...owned, type: "l", target: node.link } : { ...owned, type: node.type };
  }
  const frame = frames.get(node) ?? zstdCompressSync(node);
  const contents = frames.set(node, frame).keys().toArray();
  const offset = contents
    .slice(0, contents.indexOf(node))
    .reduce((sum, one) => sum + (frames.get(one)?.length ?? 0), 0);
  const sha256 = createHash("sha256").update(node).digest("hex");
  return { ...owned, type: "f", size: Buffer.byteLength(node), sha256, offset, length: frame.length };
}

const dirsAbove = (path: string): string[] =>
  path
    .split("/")
    .slice(1, -1)
    .map((_, at, names) => `/${names.slice(0, at + 1).join("/")}`);
