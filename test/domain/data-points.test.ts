import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { unbound } from "#domain/attempt-token";
import { Build } from "#objects/build";
import { app } from "../../src/app.ts";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn } from "../support/client.ts";
import { runningBuild } from "../support/running-build.ts";

/** Replaces a dataset of Analytics Engine: records the points, and has the same limits. */
class Dataset implements AnalyticsEngineDataset {
  readonly points: AnalyticsEngineDataPoint[] = [];

  writeDataPoint(point: AnalyticsEngineDataPoint = {}): void {
    const { indexes = [], blobs = [], doubles = [] } = point;
    const sizes = (texts: typeof blobs) => texts.map((text) => new TextEncoder().encode(String(text)).byteLength);
    if (indexes.length !== 1 || blobs.length > 20 || doubles.length > 20) throw new TypeError("too many values");
    if (Math.max(...sizes(indexes)) > 96) throw new TypeError("the index is too long");
    if (sizes(blobs).reduce((sum, size) => sum + size, 0) > 16 * 1024) throw new TypeError("the blobs are too large");
    if (this.points.length >= 250) throw new Error("Analytics Engine write limit exceeded.");
    this.points.push(point);
  }
}

/** A request that is refused, with secrets in every place. */
async function refused(METRICS: Dataset): Promise<Response> {
  const request = new Request("https://kiln.test/download/secret-token/secret-name?key=secret", {
    headers: { authorization: `Basic ${btoa("tux:secret")}`, cookie: "kiln=secret" },
  });
  const context = createExecutionContext();
  const answer = await app.fetch(request, { ...env, METRICS }, context);
  await waitOnExecutionContext(context);
  return answer;
}

/** Ends a running build in an object with this binding. */
async function endBuild(METRICS: Dataset, end: (build: Build, token: string) => Promise<unknown>): Promise<void> {
  const { buildId, attempt } = await runningBuild(await signedIn());
  await runInDurableObject(await objectOfBuild(buildId), (_, state) =>
    end(new Build(state, { ...env, METRICS }), unbound(attempt.claim.token)),
  );
}

describe("the data points for Analytics Engine", () => {
  it("have the code and the status of a refusal, and nothing of its request", async () => {
    const dataset = new Dataset();

    expect((await refused(dataset)).status).toBe(404);

    expect(dataset.points).toEqual([{ indexes: ["refusals"], blobs: ["other", "404"], doubles: [1] }]);
  });

  it("have the state of a build that ended, and the cause of a failure", async () => {
    const dataset = new Dataset();

    await endBuild(dataset, (build) => build.cancel());
    await endBuild(dataset, (build, token) => build.fail(token, { kind: "failed", reason: "secret" }));

    expect(dataset.points).toEqual([
      { indexes: ["builds_ended"], blobs: ["cancelled", ""], doubles: [1] },
      { indexes: ["builds_ended"], blobs: ["failed", "content"], doubles: [1] },
    ]);
  });

  it("change no answer if they cannot be written", async () => {
    const failures = vi.spyOn(console, "error").mockImplementation(() => {});
    const dataset = new Dataset();
    dataset.writeDataPoint = () => {
      throw new Error("Analytics Engine write limit exceeded.");
    };

    expect((await refused(dataset)).status).toBe(404);

    expect(failures).toHaveBeenCalledWith(expect.stringMatching(/could not write a data point .*metric=refusals/));
    failures.mockRestore();
  });
});
