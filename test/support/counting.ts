/** Bindings that count what is asked of them: a Worker on Cloudflare may ask 10,000 times in one invocation. */
export function counting<Bindings extends object>(bindings: Bindings): { env: Bindings; calls: string[] } {
  const calls: string[] = [];
  const watched = Object.entries(bindings).map(([name, binding]) => [name, watch(name, binding, calls)]);
  return { env: Object.fromEntries(watched), calls };
}

/** Methods that only make another object, which then asks. */
const makers = new Set(["getByName", "idFromName", "prepare", "bind"]);

function watch(name: string, target: unknown, calls: string[]): unknown {
  if (typeof target !== "object" || target === null) return target;
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== "function" || key === "constructor") return value;
      return (...given: unknown[]) => {
        const answer: unknown = Reflect.apply(value, object, given); // a stub takes each name for one of its methods, "apply" too
        if (makers.has(String(key))) return watch(name, answer, calls);
        calls.push(`${name}.${String(key)}`);
        return answer;
      };
    },
  });
}
