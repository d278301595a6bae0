/** Removes miniflare's signal listeners, which would end this process at the first signal instead of stopping in order. */
export function keepingSignals<T>(make: () => T): T {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const ours = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const made = make();
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) if (!ours.has(listener)) process.off(signal, listener);
  }
  return made;
}
