import { print } from "../launch/progress.ts";
import type { AdminClient, NamedBuild } from "./client.ts";
import { printTable } from "./table.ts";

/** The operator's commands for the builds of all accounts. */
export const buildCommands = {
  "builds again": { argument: "ID", run: buildAgain },
  "builds cancel": { argument: "ID", run: cancelBuild },
  "builds failed": { argument: undefined, run: listFailed },
  "builds queued": { argument: undefined, run: listQueued },
  "builds running": { argument: undefined, run: listRunning },
};

const named = ["ID", "ACCOUNT", "APPLIANCE", "VERSION", "FORMAT"];

const cells = ({ id, username, name, version, imageType }: NamedBuild): string[] => [
  String(id),
  username,
  name,
  version,
  imageType,
];

async function listQueued(admin: AdminClient): Promise<void> {
  const builds = await admin.queuedBuilds();
  const rows = builds.map((build) => [...cells(build), build.createdAt.toISOString(), build.why ?? ""]);
  printTable([[...named, "SINCE", "WHY IT WAITS"], ...rows]);
}

async function listRunning(admin: AdminClient): Promise<void> {
  const builds = await admin.runningBuilds();
  printTable([[...named, "REQUESTED"], ...builds.map((build) => [...cells(build), build.createdAt.toISOString()])]);
}

async function listFailed(admin: AdminClient): Promise<void> {
  const builds = await admin.failedBuilds();
  const rows = builds.map((build) => [...cells(build), build.completedAt?.toISOString() ?? "", build.reason ?? ""]);
  printTable([[...named, "FAILED", "REASON"], ...rows]);
}

async function cancelBuild(admin: AdminClient, id: string): Promise<void> {
  await admin.cancelBuild(id);
  print(`Cancelled the build ${id}.`);
}

async function buildAgain(admin: AdminClient, id: string): Promise<void> {
  const { id: next } = await admin.buildAgain(id);
  print(`Build ${next} makes the image of build ${id} again.`);
}
