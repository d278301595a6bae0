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

/** Gives the service its templates and the repositories that they are made of, when they are not those it has. */
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
