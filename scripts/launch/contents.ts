import { join } from "node:path";
import type { AdminClient } from "../admin/client.ts";
import { loadCatalogueFile } from "./catalogue-file.ts";
import { inputsHash } from "./inputs-hash.ts";
import { loadOnce } from "./loaded.ts";
import { projectRoot } from "./project.ts";
import { step } from "./progress.ts";
import type { SampleDistribution } from "./sample-distribution.ts";
import { uploadSampleDistribution } from "./sample-repositories.ts";

const templates = "templates/tiny.json";

/** Loads the templates and their repositories into the service, if it does not have them already. */
export async function loadContents(
  admin: AdminClient,
  state: string,
  sample: SampleDistribution | undefined,
): Promise<void> {
  if (sample) {
    await loadOnce(state, "sample distribution", sample.hash, () =>
      step("Repositories of the sample distribution", (say) => uploadSampleDistribution(admin, sample, say)),
    );
  }
  await loadOnce(state, templates, inputsHash(projectRoot, [templates]), async () => {
    await step("Template sets", () => loadCatalogueFile(admin, join(projectRoot, templates)));
  });
}
