import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { openDatabase } from "#storage/db";
import { repositories } from "#storage/schema";
import { primaryXmlOf } from "../solver/repo-dsl.ts";

/** A small Tiny Linux, in the language of repo-dsl, for tests of builds and software. */
export const tinyLinux: Record<"main" | "updates", string[]> = {
  main: [
    "filesystem-1.0.noarch",
    "bash-5.2.15-2+b13 requires filesystem",
    "busybox-1.35.0 requires filesystem",
    "dracut-059.noarch requires bash",
    "shadow-4.0.noarch",
    "tiny-init-1.2-3.noarch requires busybox",
    "kernel-default-6.1.0 requires dracut",
    "grub2-2.06",
    "syslinux-6.04",
    "dracut-kiwi-live-059.noarch requires dracut",
    "patterns-tiny-base-1.0.noarch provides pattern() = base requires bash, busybox, dracut, filesystem, grub2, kernel-default, shadow, tiny-init",
    "webdemo-1.0.noarch requires busybox conflicts webdemo-pro",
    "webdemo-pro-1.0.noarch requires busybox",
    "patterns-tiny-web-1.0.noarch provides pattern() = web requires webdemo",
    "mono-demo-1.0.noarch",
    "patterns-tiny-mono-1.0.noarch provides pattern() = mono requires mono-demo",
    "libgreet-1.0.noarch",
    "hello-1.0.noarch requires libgreet recommends hello-docs",
    "hello-docs-1.0.noarch",
    "gcc-c++-12.2.0 requires bash",
    "broken-dep-1.0.noarch requires does-not-exist >= 7",
  ],
  updates: ["libgreet-1.1.noarch", "hello-1.1.noarch requires libgreet >= 1.1"],
};

/** Download and installed sizes of the large packages. All others are tiny. */
const sizes = new Map([["kernel-default", [60, 300]]]);

function primaryOf(packages: string[]): string {
  const elements = primaryXmlOf(packages).split("<package ");
  return elements
    .map((element) => {
      const [, name = ""] = /<name>([^<]+)/.exec(element) ?? [];
      const [download = 0, installed = 0] = (sizes.get(name) ?? []).map((mb) => mb * 1024 ** 2);
      return download
        ? element.replace(/<size [^>]*>/, `<size package="${download}" installed="${installed}" archive="1"/>`)
        : element;
    })
    .join("<package ");
}

/** Stores these packages in the repository, like a successful import. */
export async function stock(repositoryId: number, packages: string[]): Promise<void> {
  const solver = await openSolver(solverModule);
  const part = solver.addRepository("part");
  part.readPrimary(new TextEncoder().encode(primaryOf(packages)));
  part.finish();
  const revision = crypto.randomUUID();
  const key = `test-parts/${revision}.solv`;
  await env.BLOBS.put(key, part.write("solving"));
  solver.close();
  await openDatabase(env)
    .update(repositories)
    .set({ revision, parts: [key], packageCount: packages.length, importState: "ready", problem: null })
    .where(eq(repositories.id, repositoryId));
}

/** The id of a repository in the shipped catalogue. */
export async function tinyRepository(name: keyof typeof tinyLinux): Promise<number> {
  const db = openDatabase(env);
  const row = await db.query.repositories.findFirst({
    where: eq(repositories.url, `service:/repositories/tiny/${name}`),
  });
  if (!row) throw new Error(`the catalogue has no repository ${name}`);
  return row.id;
}

/** Fills the shipped catalogue's repositories with their packages. */
export async function stockTinyLinux(): Promise<void> {
  await stock(await tinyRepository("main"), tinyLinux.main);
  await stock(await tinyRepository("updates"), tinyLinux.updates);
}
