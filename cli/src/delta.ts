/** Reads a delta between the disks of two images. The agent writes it with the same code. */
export { chunkBytes, eachHash, hashBytes, readBlocks, zeroHash, type Blocks } from "../../src/lib/delta/blocks.ts";
export { headerBytes, readHashes, readHeader, type DeltaHeader } from "../../src/lib/delta/format.ts";
