/** Bindings that record their calls, because a Worker on Cloudflare may make only 10,000 of them in one invocation. */
export function counting<Bindings extends object>(bindings: Bindings): { env: Bindings; calls: string[] } {
  const calls: string[] = [];
  const watched = Object.entries(bindings).map(([name, binding]) => [name, watch(name, binding, calls)]);
  return { env: Object.fromEntries(watched), calls };
}

/** Methods that only create another object, whose calls are then recorded. */
const makers = new Set(["getByName", "idFromName", "prepare", "bind"]);

function watch(name: string, target: unknown, calls: string[]): unknown {
  if (typeof target !== "object" || target === null) return target;
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== "function" || key === "constructor") return value;
      return (...args: unknown[]) => {
        // Not value.apply: a stub treats each name, even "apply", as one of its own methods.
        const answer: unknown = Reflect.apply(value, object, args);
        if (makers.has(String(key))) return watch(name, answer, calls);
        calls.push(`${name}.${String(key)}`);
        return answer;
      };
    },
  });
}
