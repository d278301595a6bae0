import { env } from "cloudflare:workers";
import tinyKey from "../../fixtures/repodata/signed/tiny.key?raw";
import { openDatabase } from "#storage/db";
import { builds } from "#storage/schema";
import { loadWithAgreement } from "../../support/agreements.ts";
import { operate, signedIn, visit, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { publishedAppliance } from "../../support/gallery.ts";
import { bootableBuild } from "../../support/testdrives.ts";
import { madeId, mirrorUrl } from "../every-call/sample.ts";

/** Values of the examples' variables. */
type Variables = Record<string, string | number>;

export interface ErrorSample {
  tux: Client;
  variables: Variables;
}

/** Makes all objects that an example may name. */
export async function makeErrorSample(): Promise<ErrorSample> {
  const tux = await signedIn();
  const { applianceId: built, buildId: build } = await createBuild(tux);
  const { applianceId: fileless, id: filelessBuild } = await bootableBuild(tux, { filesKey: null });
  const { applianceId: published, buildId: publishedBuild } = await publishedAppliance(tux);
  const appliance = await createAppliance(tux);
  const unbuildable = await createAppliance(tux);
  await tux.put(`/appliances/${unbuildable}/software`, "<software><package>no-such-package</package></software>");
  await madeId(tux, "POST", `/repositories?url=${mirrorUrl}&name=Perl`);
  await useKey(tux, "used");
  const running = await startBuild(tux, appliance);
  const ofGallery = { published, published_build: publishedBuild };
  const variables = {
    ...ofGallery,
    built,
    build,
    fileless,
    fileless_build: filelessBuild,
    appliance,
    unbuildable,
    running,
  };
  return { tux, variables: { ...variables, imported: mirrorUrl } };
}

/** Sends a request with this Idempotency-Key. */
async function useKey({ username, apiKey }: Client, key: string): Promise<void> {
  const headers = { authorization: `Basic ${btoa(`${username}:${apiKey}`)}`, "idempotency-key": key };
  await visit("/api/v2/user/appliances?clone_from=1", { method: "POST", headers });
}

type State = (sample: ErrorSample) => Promise<ErrorSample>;

const withFresh: State = async ({ variables }) => {
  const tux = await signedIn();
  return { tux, variables: { ...variables, appliance: await createAppliance(tux) } };
};

/** State that a code needs in addition to the sample. It is set up before the example, and undone after it. */
export const states: Record<string, { before: State; after?: () => Promise<unknown> }> = {
  read_only_mode_active: {
    before: async (sample) => {
      await operate("PUT", "/read-only", { on: true });
      return sample;
    },
    after: () => operate("PUT", "/read-only", { on: false }),
  },
  sle_agreement_missing: {
    before: async (sample) => {
      const fresh = await withFresh(sample);
      await loadWithAgreement({ title: "An agreement", text: "Keep the rules." });
      return fresh;
    },
    after: () => loadWithAgreement(),
  },
  no_build_slots: {
    before: async (sample) => {
      const fresh = await withFresh(sample);
      await occupy(fresh.tux.accountId, Number(env.MAX_BUILDS_PER_ACCOUNT));
      return fresh;
    },
  },
  key_already_exists: {
    before: async (sample) => {
      const fresh = await withFresh(sample);
      const { appliance } = fresh.variables;
      await madeId(fresh.tux, "POST", `/appliances/${appliance}/gpg_keys?name=Tiny&target=rpm`, { file: tinyKey });
      return fresh;
    },
  },
};

/** Adds builds of this account that wait forever. */
async function occupy(accountId: number, count: number): Promise<void> {
  const waiting = Array.from({ length: count }, (_, index) => ({
    accountId,
    applianceId: -1 - index,
    version: "0.0.1",
    imageType: "oem" as const,
    status: "queued" as const,
    inputSha256: "a".repeat(64),
    downloadToken: crypto.randomUUID(),
    createdAt: new Date(),
  }));
  await openDatabase(env).insert(builds).values(waiting);
}
