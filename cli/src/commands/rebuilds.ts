import { command, flag, value } from "../command.ts";
import type { Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { table, visible } from "../output/table.ts";
import { isProvenance, rebuildHere } from "../rebuild-here.ts";
import { buildId } from "../resolve.ts";
import { untilEnded } from "../until-ended.ts";

type Rebuild = Awaited<ReturnType<typeof lastRebuild>>;

export const rebuilds = [
  command("rebuild <build>", {
    tool: "writes",
    summary: "Build the input of an image again, and compare the bytes; the exit code shows whether they are the same",
    details:
      "A builder other than the first does it, if there is one. Builds that people wait for go first. The new " +
      "image is not stored. If it differs, the files that differ are listed. --last shows the last rebuild, " +
      "and waits for its end; the exit code is 9 if there is none. " +
      "If <build> is a provenance (.intoto.jsonl), the builder agent of this machine builds it, without the service's own. " +
      "Use sudo, with --key: only root can build.",
    options: {
      last: flag("show the last rebuild, and start none"),
      cancel: flag("cancel the rebuild in progress"),
      key: value("file", "of a provenance: public key of the service in PEM, in place of the pinned ones; or KILN_KEY"),
      root: value("file", "of a provenance: the builder root that it names"),
      bare: flag("of a provenance: run its scripts as root on this machine, which you delete afterwards"),
    },
    examples: [
      "kiln rebuild First",
      "kiln rebuild 31 --last",
      "sudo kiln rebuild First.x86_64-0.0.1.oem.tar.gz.intoto.jsonl --key kiln.pem",
    ],
    act: async (kiln, { build, last, cancel, ...here }) => {
      if (isProvenance(build)) return await rebuildHere(kiln, build, here);
      const id = await buildId(kiln.client, build);
      if (cancel) await kiln.client.call("cancelRebuild", { build_id: id });
      else if (!last) await kiln.client.call("startRebuild", { build_id: id });
      const how = { waiting: "queued", begun: "The image is built." } as const;
      const rebuild = await untilEnded(kiln, () => lastRebuild(kiln, id), how);
      if (!rebuild) {
        kiln.show({ rebuilds: [] }, () => "The image was never built again. To do it: `kiln rebuild ID`.");
        return "notFound";
      }
      kiln.show({ rebuild }, () => shown(kiln, rebuild));
      return cancel ? "done" : exits[rebuild.state];
    },
  }),
];

const exits: Readonly<Record<NonNullable<Rebuild>["state"], Exit>> = {
  same: "done",
  differs: "difference",
  failed: "broken",
  cancelled: "cancelled",
  queued: "done",
  running: "done",
};

async function lastRebuild({ client }: Pick<Kiln, "client">, id: number) {
  const { rebuilds: all } = await client.call("listRebuilds", { build_id: id });
  return all[0];
}

function shown({ paint }: Kiln, rebuild: NonNullable<Rebuild>): string {
  const {
    state,
    message,
    differences,
    more_differences: hasMore,
    by_other_agent: other,
    same_bytes: areSame,
  } = rebuild;
  const by = other === undefined ? "" : other ? " Another builder made it." : " The same builder made both.";
  if (state === "same") return `The bytes are the same.${by}`;
  if (state !== "differs") return `The rebuild is ${state}.${message === undefined ? "" : ` ${visible(message)}`}`;
  if (differences.length === 0) return `The bytes differ.${by} No file is known that differs.`;
  const rows = differences.map(({ path, change, what }) => [path, change, what]);
  return [
    `${areSame ? "The bytes are the same, but the builders report different files or packages." : "The bytes differ."}${by}`,
    table(paint, ["FILE", "CHANGE", "WHAT"], rows),
    ...(hasMore ? ["There are more."] : []),
  ].join("\n");
}
