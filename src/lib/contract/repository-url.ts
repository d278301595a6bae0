/**
 * The URL of a repository for clients. The service's own repositories are below its base URL. Undefined if only
 * builders read it.
 */
export function publicUrl(url: string, baseUrl: string): string | undefined {
  const path = /^service:(\/.*)$/.exec(url)?.[1];
  if (path === undefined) return url;
  return path.startsWith("/repositories/") ? baseUrl + path : undefined;
}
