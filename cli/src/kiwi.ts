/** The service's reader of KIWI descriptions, which is tested with its writer. */
export { importXml, type Imported, type ImportedFile, type NextTo } from "../../src/lib/kiwi/import/index.ts";
export { WireFault } from "../../src/lib/wire/fault.ts";
