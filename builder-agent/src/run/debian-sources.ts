/** A source package of Debian. */
export interface Source {
  name: string;
  version: string;
}

/** The sources of the packages in dpkg's status file, by package name. Without a field `Source`, it is the package's own name. */
export function sourcesIn(status: string): ReadonlyMap<string, Source> {
  const sources = status.split(/\n{2,}/).flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1]?.trim();
    const [name, version] = [field("Package"), field("Version")];
    if (name === undefined || version === undefined) return [];
    const [, source = name, its = version] = /^(\S+)(?: \((\S+)\))?$/.exec(field("Source") ?? "") ?? [];
    return [[name, { name: source, version: its }] as const];
  });
  return new Map(sources);
}
