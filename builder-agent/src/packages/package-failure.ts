import { BuildFailure } from "../build/build-failure.ts";
import { nvra, type FrozenPackage } from "../contract.ts";
import { sentenceOf } from "../log.ts";
import { OutsideRefused } from "../outside.ts";
import { RemoteRefusal, isWorthRetry } from "../retry.ts";

/** What came is not the file that the metadata announced. */
export class WrongPackage extends Error {}

/** After a failure of this host, another agent retries the build. The user gets the failure of a mirror. */
export function packageFailure(error: unknown, one: FrozenPackage, base: string): unknown {
  const kind = base.startsWith("service:") && isWorthRetry(error) ? "error" : "failed";
  const from = base.startsWith("service:") ? "of its repository" : `at ${base}`;
  const refresh = "Refresh the repository and build again.";
  if (error instanceof OutsideRefused) {
    return new BuildFailure({ kind, reason: `A repository cannot be used: ${error.message}` }, { cause: error });
  }
  if (error instanceof WrongPackage) {
    const reason = `${nvra(one)} ${from} is not the file that was chosen: its ${one.checksum.type} or size is another. ${refresh}`;
    return new BuildFailure({ kind, reason });
  }
  if (error instanceof RemoteRefusal && [403, 404, 410].includes(error.status)) {
    return new BuildFailure({ kind, reason: `${nvra(one)} is gone: HTTP ${error.status} ${from}. ${refresh}` });
  }
  if (!isWorthRetry(error) && !(error instanceof RemoteRefusal)) return error;
  const reason = `${nvra(one)} could not be downloaded ${from}: ${sentenceOf(error)}`.slice(0, 500);
  return new BuildFailure({ kind, reason }, { cause: error });
}
