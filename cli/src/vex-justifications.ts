// The reasons of OpenVEX, from the code of the service.
export { vexJustifications } from "../../src/lib/advisories/vex.ts";
