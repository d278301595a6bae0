/**
 * The reader of KIWI descriptions is the only code that the command line shares with the service. It is tested with the
 * service's own writer.
 */
export { importXml, type Imported, type ImportedFile, type NextTo } from "../../src/lib/kiwi/import/index.ts";
export { WireFault } from "../../src/lib/wire/fault.ts";
