import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { definition as definitionDocument, wantedDefinition } from "#lib/definition/document";
import { definitionOf, readContents, type Contents } from "#domain/definitions/definition";
import { wantedContents } from "#domain/definitions/wanted";
import { findAccount } from "#storage/accounts";
import { findAnyAppliance, findBaseSystem } from "#storage/appliances";
import { openDatabase } from "#storage/db";
import { listVisibleRepositories } from "#storage/repositories";
import { writeJson } from "#lib/wire/json";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { viewOf } from "#lib/wire/view";
import type { Definition } from "../../cli/src/appliance-file/write.ts";
import { addTwins, fileOf, newKeys, readBack } from "../support/appliance-files.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { generatedDefinitions } from "../support/generated-definitions.ts";
import * as fc from "../support/properties.ts";

const baseUrl = "https://kiln.test";
const place = { env, db: openDatabase(env) };

it("makes the appliance that a file describes, whatever it was before, and then changes nothing more", async () => {
  const tux = await signedIn();
  const appliance = (await findAnyAppliance(place.db, await createAppliance(tux))) ?? expect.fail("no appliance");
  const account = (await findAccount(place.db, tux.username)) ?? expect.fail("no account");
  const reading = { account, appliance, baseUrl, missingContent: "assume" } as const;
  const shown = (contents: Contents): Definition => {
    const view = viewOf(definitionDocument, definitionOf(appliance, contents, baseUrl), {
      baseUrl,
      version: { name: "v2" },
    });
    return (JSON.parse(writeJson("definition", view)) as { definition: Definition }).definition;
  };
  let runs = 0;
  let before = await readContents(place.db, appliance);
  const repositories = [...shown(before).repositories, ...(await addTwins(tux.accountId))];
  const keys = await newKeys();
  // The result does not depend on the database, which is slower than everything else.
  const visible = await listVisibleRepositories(place.db, account.id);
  vi.spyOn(place.db.query.repositories, "findMany").mockReturnValue(Promise.resolve(visible) as never);
  const base = await findBaseSystem(place.db, appliance.baseSystem);
  vi.spyOn(place.db.query.baseSystems, "findFirst").mockReturnValue(Promise.resolve(base) as never);

  await fc.assert(
    fc.asyncProperty(generatedDefinitions({ repositories, keys }), async ({ definition, contents }) => {
      const exported = fileOf(definition, contents);
      const json = JSON.stringify({ definition: readBack(exported).definition });
      const wanted = readDocument(wantedDefinition, readJson(wantedDefinition, json));

      const after = await wantedContents(place, reading, { before, wanted });

      expect(fileOf(shown(after), contents)).toEqual(exported);
      runs += 1;
      if (runs % 10 === 0) expect(await wantedContents(place, reading, { before: after, wanted })).toEqual(after);
      before = after;
    }),
    { numRuns: 300 },
  );
});
