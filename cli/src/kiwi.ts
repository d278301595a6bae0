/** Reading KIWI descriptions is the only code of the service that the command line shares. The service's own writer tests it. */
export { importXml, type Imported, type ImportedFile, type NextTo } from "../../src/lib/kiwi/import/index.ts";
export { WireFault } from "../../src/lib/wire/fault.ts";
