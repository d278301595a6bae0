/** How long work took, and the longest time in which nothing else had a turn of the event loop. Milliseconds. */
export async function longestStop(work: () => Promise<unknown>): Promise<{ longest: number; whole: number }> {
  const ended = new AbortController();
  const begunAt = performance.now();
  const working = work().finally(() => ended.abort());
  let longest = performance.now() - begunAt;
  while (!ended.signal.aborted) {
    const turnAt = performance.now();
    await scheduler.wait(1);
    longest = Math.max(longest, performance.now() - turnAt);
  }
  await working;
  return { longest, whole: performance.now() - begunAt };
}
