import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/* The Merkle tree of RFC 6962, section 2.1. Positions and sizes are counted in entries, levels from the leaves up. */

/** The hash of the complete subtree over the entries from `position * 2^level` on. */
export type NodeAt = (level: number, position: number) => Buffer | Promise<Buffer>;

const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The root of a log without entries. */
export const emptyRoot = sha256();

export const leafHash = (entry: string): Buffer => sha256(Buffer.of(0), Buffer.from(entry));
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right);

/** The largest power of two below the size: how many entries the left subtree has. */
function leftSize(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** The root of the tree over the first `size` entries. */
export const rootOf = async (size: number, nodeAt: NodeAt): Promise<Buffer> =>
  size === 0 ? emptyRoot : await rangeHash(nodeAt, 0, size);

/** The hash of `size` entries from `start` on, which is where a subtree of the tree begins. */
async function rangeHash(nodeAt: NodeAt, start: number, size: number): Promise<Buffer> {
  const left = leftSize(size);
  if (size === 1 || left * 2 === size) return await nodeAt(Math.round(Math.log2(size)), start / size);
  return nodeHash(await rangeHash(nodeAt, start, left), await rangeHash(nodeAt, start + left, size - left));
}

/** The hashes that lead from an entry to the root, the leaf's sibling first. */
export async function inclusionProof(position: number, size: number, nodeAt: NodeAt): Promise<Buffer[]> {
  const proof = async (start: number, count: number): Promise<Buffer[]> => {
    if (count === 1) return [];
    const left = leftSize(count);
    const middle = start + left;
    return position < middle
      ? [...(await proof(start, left)), await rangeHash(nodeAt, middle, count - left)]
      : [...(await proof(middle, count - left)), await rangeHash(nodeAt, start, left)];
  };
  return await proof(0, size);
}

/** The root that follows from a leaf and its proof. Undefined if the proof has the wrong length. */
export function rootFromInclusion(
  { position, size }: { position: number; size: number },
  leaf: Buffer,
  proof: readonly Buffer[],
): Buffer | undefined {
  const sibling = proof.at(-1);
  if (size <= 1) return position === 0 && size === 1 && sibling === undefined ? leaf : undefined;
  if (sibling === undefined) return undefined;
  const left = leftSize(size);
  const isLeft = position < left;
  const below = isLeft ? { position, size: left } : { position: position - left, size: size - left };
  const hash = rootFromInclusion(below, leaf, proof.slice(0, -1));
  return hash && (isLeft ? nodeHash(hash, sibling) : nodeHash(sibling, hash));
}

/** A size of the log, and the root that its checkpoint has. */
export interface TreeHead {
  size: number;
  root: Buffer;
}

/** The hashes that show that the tree over `size` entries begins with the tree over the first `oldSize` ones. */
export async function consistencyProof(oldSize: number, size: number, nodeAt: NodeAt): Promise<Buffer[]> {
  const proof = async (start: number, old: number, count: number): Promise<Buffer[]> => {
    // The old tree's own root needs no proof.
    if (old === count) return start === 0 ? [] : [await rangeHash(nodeAt, start, count)];
    const left = leftSize(count);
    return old <= left
      ? [...(await proof(start, old, left)), await rangeHash(nodeAt, start + left, count - left)]
      : [...(await proof(start + left, old - left, count - left)), await rangeHash(nodeAt, start, left)];
  };
  return oldSize === 0 ? [] : await proof(0, oldSize, size);
}

/** Whether the proof shows that the newer tree contains the older one, unchanged. */
export function isConsistent(older: TreeHead, newer: TreeHead, proof: readonly Buffer[]): boolean {
  if (older.size > newer.size) return false;
  if (older.size === 0) return older.root.equals(emptyRoot) && proof.length === 0;
  const roots = rootsFrom({ old: older.size, size: newer.size }, older.root, proof);
  return roots !== undefined && roots.old.equals(older.root) && roots.now.equals(newer.root);
}

/**
 * The old and the new root that follow from a proof. `known` is the root of the old tree; undefined off its left edge.
 */
function rootsFrom(
  { old, size }: { old: number; size: number },
  known: Buffer | undefined,
  proof: readonly Buffer[],
): { old: Buffer; now: Buffer } | undefined {
  const last = proof.at(-1);
  if (old === size) {
    const hash = known ?? last;
    return hash && proof.length === (known ? 0 : 1) ? { old: hash, now: hash } : undefined;
  }
  if (last === undefined) return undefined;
  const left = leftSize(size);
  const rest = proof.slice(0, -1);
  if (old <= left) {
    const roots = rootsFrom({ old, size: left }, known, rest);
    return roots && { old: roots.old, now: nodeHash(roots.now, last) };
  }
  const roots = rootsFrom({ old: old - left, size: size - left }, undefined, rest);
  return roots && { old: nodeHash(last, roots.old), now: nodeHash(last, roots.now) };
}
