interface Route {
  method: string;
  path: string;
}

/**
 * The methods of a path. If there are any, a request with another method is refused for its method, not as an unknown
 * path.
 */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const plain = path.replace(/(.)\/+$/, "$1");
  const methods = routes.filter(({ method, path }) => method !== "ALL" && pattern(path).test(plain));
  return [...new Set(methods.map(({ method }) => method))];
}

const pattern = (path: string) =>
  new RegExp(
    `^${path
      .replace(/[.+?^$()[\]]/g, "\\$&")
      .replace(/:\w+/g, "[^/]+")
      .replaceAll("*", ".*")}$`,
  );
