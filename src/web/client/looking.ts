/** The pause after a fetch. After failures in a row it doubles up to the longest. */
const pauseMs = { shortest: 300, longest: 10_000 };

interface Means {
  /** Fetches elements. False if another fetch has taken over, so that they must be fetched again. */
  fetch: (ids: readonly string[]) => Promise<boolean>;
  /** Called after each fetch. */
  onFetched: (isLost: boolean) => void;
  sleep: (ms: number) => Promise<unknown>;
}

/**
 * Fetches the wanted elements, one fetch at a time, until none are wanted. Elements that are wanted during a fetch are
 * fetched afterwards, and so are those whose fetch failed: the last event of a stream is not repeated.
 */
export async function lookForAll(wanted: Set<string>, { fetch, onFetched, sleep }: Means): Promise<void> {
  let pause = pauseMs.shortest;
  while (wanted.size > 0) {
    const ids = [...wanted];
    wanted.clear();
    let isLost = false;
    const isDone = await fetch(ids).catch(() => {
      isLost = true;
      return false;
    });
    onFetched(isLost);
    if (!isDone) for (const id of ids) wanted.add(id);
    pause = isLost ? Math.min(2 * pause, pauseMs.longest) : pauseMs.shortest;
    await sleep(pause);
  }
}
