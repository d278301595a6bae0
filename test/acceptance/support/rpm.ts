import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Builds a package as a user does: one file that contains its name. Returns the path of the rpm. */
export function buildRpm(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const spec = join(folder, `${name}.spec`);
  const path = `/usr/share/${name}/note`;
  const lines = [
    `Name: ${name}`,
    "Version: 1.0",
    "Release: 1",
    "Summary: A package of one's own",
    "License: MIT",
    "BuildArch: noarch",
    "Requires: hello",
    "%description",
    "A package of one's own.",
    "%install",
    `install -d %{buildroot}/usr/share/${name}`,
    `echo made by ${name} > %{buildroot}${path}`,
    "%files",
    path,
  ];
  writeFileSync(spec, `${lines.join("\n")}\n`);
  const defines = [`_topdir ${folder}`, `_rpmdir ${folder}/out`, `_dbpath ${folder}/db`];
  const options = defines.flatMap((define) => ["--define", define]);
  execFileSync("rpmbuild", ["-bb", "--quiet", ...options, spec], { env: { ...process.env, HOME: folder } });
  const out = join(folder, "out", "noarch");
  return join(out, readdirSync(out)[0] ?? "");
}
