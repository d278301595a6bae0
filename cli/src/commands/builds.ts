import { asText, errorLines, exitOfState, followBuild, type WatchedBuild } from "../builds/follow.ts";
import { allEndedBuilds } from "../builds/ended.ts";
import { follow } from "../client/event-stream.ts";
import { command, flag, value } from "../command.ts";
import { Complaint, exitCodes, type Exit } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { closedOutput } from "../output/closed-output.ts";
import { Bars, duration } from "../output/progress.ts";
import { megabytes, moment, table, visible, visibleLines } from "../output/table.ts";
import { imageTypes } from "../image-types.ts";
import { applianceId, buildId, type ImageType } from "../resolve.ts";

export const builds = [
  command("build <appliance>", {
    tool: "writes",
    summary: "Build images of an appliance",
    details:
      "Several types are built from one version: the first one must finish before the others begin, so the command waits " +
      "for it. With --follow it waits for all, and its exit code shows how they ended; of a failed build it shows the " +
      "errors of the log.",
    options: {
      type: value("types", "what to build; the default is the appliance's type"),
      version: value("version", "the version to build; the default is the next one"),
      force: flag("build a version again that already exists"),
      follow: flag("show the progress until all builds have ended", "f"),
    },
    examples: ["kiln build First --follow", "kiln build First --type oem,iso --follow"],
    act: async (kiln, { appliance, type, version, force, follow: isFollowed }) => {
      const id = await applianceId(kiln.client, appliance);
      const [first, ...others] = typesIn(type);
      const wanted = { appliance_id: id, force, version };
      const started = [await start(kiln, { ...wanted, image_type: first })];
      const bars = new Bars();
      const ended: WatchedBuild[] = [];
      if (isFollowed || others.length > 0) ended.push(await watch(kiln, started, bars));
      if (others.length > 0 && ended.every(({ state }) => state === "finished")) {
        const same = { ...wanted, version: started[0]?.version };
        const more = [];
        for (const other of others) more.push(await start(kiln, { ...same, image_type: other }));
        started.push(...more);
        if (isFollowed) ended.push(...(await Promise.all(more.map((one) => watch(kiln, [one], bars)))));
      }
      return await report(kiln, [...ended, ...started.slice(ended.length)]);
    },
  }),
  command("builds <appliance>", {
    tool: "reads",
    summary: "List the images of an appliance, and the builds in progress",
    act: async ({ client, show, paint }, { appliance }) => {
      const id = { appliance_id: await applianceId(client, appliance) };
      const [running, ended] = await Promise.all([
        client.call("listRunningBuilds", id),
        allEndedBuilds(client, id.appliance_id),
      ]);
      const rows = [
        ...running.running_builds.map((one) => [one.id, one.version, one.image_type, one.state, `${one.percent}%`, ""]),
        ...ended.map((one) => [
          one.id,
          one.version,
          one.image_type,
          one.expired ? "expired" : one.state,
          megabytes(one.compressed_image_size || one.size),
          moment(one.completed_at),
        ]),
      ];
      show({ ...running, builds: ended }, () =>
        table(paint, ["BUILD", "VERSION", "TYPE", "STATE", "SIZE", "ENDED"], rows),
      );
    },
  }),
  command("wait <build>", {
    summary: "Wait until a build has ended; the exit code shows how",
    examples: ["kiln build First --json && kiln wait 12 && kiln download 12"],
    act: async (kiln, { build }) => {
      const id = { build_id: await buildId(kiln.client, build) };
      const { running_build: now } = await kiln.client.call("getRunningBuild", id);
      return await report(kiln, [await watch(kiln, [now], new Bars())]);
    },
  }),
  command("cancel <build>", {
    tool: "destroys",
    summary: "Cancel a build",
    act: async ({ client, show }, { build }) => {
      const id = { build_id: await buildId(client, build) };
      refuseEnded((await client.call("getRunningBuild", id)).running_build);
      const answer = await client.call("cancelBuild", id);
      // The build may have ended in the meantime, and then the service accepts the call but does nothing.
      const { running_build: now } = await client.call("getRunningBuild", id);
      if (now.state !== "cancelled") refuseEnded(now);
      show(answer, () => `Cancelled build ${build}.`);
    },
  }),
  command("logs <build>", {
    tool: "reads",
    summary: "Print the log of a build",
    options: { follow: flag("continue until the build has ended; the exit code shows how", "f") },
    act: async (kiln, { build, follow: isFollowed }) => {
      const id = { build_id: await buildId(kiln.client, build) };
      if (!isFollowed) {
        const log = await kiln.client.call("getBuildLog", id, { headers: asText });
        const text = (await log.text()).replace(/\n$/, "");
        kiln.show({ build_id: id.build_id, log: text }, () => visibleLines(text));
        return "done";
      }
      const signal = closedOutput();
      for await (const { event, data } of follow(kiln.client, "getBuildLog", id, { after: "0", signal })) {
        if (event === "end") break;
        if (kiln.isJson) kiln.print(JSON.stringify({ event, data: event === "progress" ? JSON.parse(data) : data }));
        else if (event === "log") kiln.print(visibleLines(data));
      }
      return exitOfState[(await kiln.client.call("getRunningBuild", id)).running_build.state];
    },
  }),
  command("delete-build <build>", {
    tool: "destroys",
    summary: "Delete a build with its image",
    act: async ({ client, show }, { build }) => {
      const answer = await client.call("deleteBuild", { build_id: await buildId(client, build) });
      show(answer, () => `Deleted build ${build}.`);
    },
  }),
];

/** The service accepts the cancellation of an ended build, as it did in 2010, but does nothing. */
function refuseEnded({ id, state }: WatchedBuild): void {
  if (state === "queued" || state === "running") return;
  throw new Complaint(
    "refused",
    `Build ${id} has already ended: ${state}.`,
    state === "finished" ? `To delete its image: \`kiln delete-build ${id}\`.` : `\`kiln logs ${id}\` shows its log.`,
  );
}

function typesIn(given: string | undefined): ImageType[] {
  return (given?.split(",") ?? []).map((word) => {
    const known = imageTypes.find((type) => type === word.trim());
    if (known) return known;
    throw new Complaint("misused", `There is no image type ${word}.`, `The types are ${imageTypes.join(", ")}.`);
  });
}

async function start(kiln: Kiln, request: Parameters<typeof kiln.client.call<"startBuild">>[1]): Promise<WatchedBuild> {
  const { build } = await kiln.client.call("startBuild", request);
  kiln.note(`Build ${build.id}: ${build.image_type} of version ${build.version}.`);
  return build;
}

async function watch({ client, note }: Kiln, [build]: WatchedBuild[], bars: Bars): Promise<WatchedBuild> {
  if (!build) throw new Error("there is no build to watch");
  const name = `${build.id} ${build.image_type.padEnd(6)}`;
  const leave = () => {
    note(`\nBuild ${build.id} continues. To watch it: kiln wait ${build.id}. To cancel it: kiln cancel ${build.id}.`);
    process.kill(process.pid, "SIGINT"); // the listener is gone, so this ends the process
  };
  process.once("SIGINT", leave);
  try {
    const ended = await followBuild(client, build, ({ percent, message }, secondsLeft) =>
      bars.show({ name, percent, stage: message, secondsLeft }),
    );
    bars.show({ name, percent: ended.percent, stage: ended.message });
    return ended;
  } finally {
    process.off("SIGINT", leave);
  }
}

/** The worst result decides the exit code. */
async function report(kiln: Kiln, all: readonly WatchedBuild[]): Promise<Exit> {
  const failed = all.filter(({ state }) => state === "failed" || state === "error");
  const errors = new Map<number, string[]>();
  for (const { id } of failed) errors.set(id, await errorLines(kiln.client, id));
  const shown = all.map((one) => ({ ...one, ...(errors.has(one.id) && { errors: errors.get(one.id) }) }));
  kiln.show({ builds: shown }, () =>
    all.flatMap((one) => [sentence(one), ...(errors.get(one.id) ?? []).map((line) => `  ${line}`)]).join("\n"),
  );
  const exits = all.map(({ state }) => exitOfState[state]);
  return exits.toSorted((a, b) => exitCodes[b].code - exitCodes[a].code)[0] ?? "done";
}

function sentence({ id, version, image_type: type, state, message, time_elapsed: seconds }: WatchedBuild): string {
  const what = `Build ${id} (${type}, ${version})`;
  if (state === "finished") return `${what} finished in ${duration(seconds)}. Get it: kiln download ${id}`;
  if (state === "queued" || state === "running") return `${what} is ${state}. Watch it: kiln logs ${id} --follow`;
  return `${what} ${state === "error" ? "ended with an error of the service" : state}: ${visible(message)}`;
}
