/** How a description of KIWI is read: the one rule of the service that the command line shares, with the service's own writer as its test. */
export { importXml, type Imported, type ImportedFile, type NextTo } from "../../src/kiwi/import/index.ts";
export { WireFault } from "../../src/wire/fault.ts";
