/** The result of one attempt: the receiver's status, or why there was none. */
export type Outcome = { status: number } | { problem: string };

/** Only a 2xx is a success. */
export const hasSucceeded = (outcome: Outcome): boolean =>
  "status" in outcome && outcome.status >= 200 && outcome.status < 300;

export const failureOf = (outcome: Outcome): string =>
  "status" in outcome ? `The receiver answered ${outcome.status}.` : outcome.problem;

const postWithinMs = 10_000;

/**
 * Sends one POST. A redirect counts as a failure and is not followed, because it could lead to an address that the
 * owner did not choose.
 */
export async function post(
  fetchFrom: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<Outcome> {
  const signal = AbortSignal.timeout(postWithinMs);
  try {
    const answer = await fetchFrom(url, { method: "POST", redirect: "manual", signal, headers, body });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch {
    const silent = `The receiver did not answer within ${postWithinMs / 1000} seconds.`;
    return { problem: signal.aborted ? silent : "The receiver cannot be reached." };
  }
}
