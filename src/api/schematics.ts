import { schematic } from "#documents/schematic";
import { getSchematic, storeSchematic } from "#domain/schematics/schematic";
import { wantedDefinition } from "#lib/definition/document";
import { refusesNew } from "#api/definitions";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";

/** Definitions with a content address (docs/schematics.md). */
export const schematics: CallGroup = {
  title: "Schematics",
  about:
    "A definition that has an address: the SHA-256 of its content. `GET /image/<id>/<day>/<format>` builds its image once, and " +
    "leads to it.",
  operations: [
    call("POST /schematics", {
      name: "storeSchematic",
      versions: v2,
      access: "own",
      rate: "clones",
      summary: "Give a definition an address",
      details:
        "The first time, you get an appliance that is made from it. The same definition has the same id, whatever it omits. If " +
        "you change or delete the appliance, the address ends until you send the definition again.",
      takes: wantedDefinition,
      answer: schematic,
      isCreated: true,
      refuses: refusesNew,
      act: async ({ env, db, account, baseUrl, requestId }, { body }) =>
        await storeSchematic({ env, db }, { account, baseUrl, requestId, wanted: await body() }),
    }),
    call("GET /schematics/{schematic}", {
      name: "getSchematic",
      versions: v2,
      access: "own",
      summary: "A schematic, and the days as of which its images can be built",
      unknown: ["unknown_error"],
      about: { schematic: "Its id, 64 hexadecimal digits." },
      answer: schematic,
      act: ({ env, db, account }, { schematic: sha256 }) => getSchematic({ env, db }, account.id, sha256),
    }),
  ],
};
