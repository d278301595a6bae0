/** Writes a delta between the disks of two images. `kiln download` reads it with the same code. */
export { blockSizeOf, eachHash, readBlocks, type Blocks } from "../../src/lib/delta/blocks.ts";
export {
  deltaHead,
  headerBytes,
  lackingBlocks,
  maxDiskBytes,
  readHashes,
  readHeader,
} from "../../src/lib/delta/format.ts";
