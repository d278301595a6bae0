import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Complaint } from "../launch/complaint.ts";
import { print } from "../launch/progress.ts";
import type { AdminClient } from "./client.ts";
import type { Given } from "./options.ts";
import { printTable } from "./table.ts";

/** The operator's commands for feeds of security advisories. */
export const advisoryCommands = {
  "advisories follow": { argument: "FEED", value: "URL", run: followFeed },
  "advisories import": { argument: "FEED", value: "FILE", run: importFeed },
  "advisories list": { argument: undefined, run: listFeeds },
};

async function importFeed(admin: AdminClient, feed: string, { value: file }: Given): Promise<void> {
  if (file === undefined) throw new Complaint("advisories import takes a FEED and a FILE.");
  const { sources } = await admin.importAdvisories(feed, basename(file), contentOf(file));
  print(`Imported ${file}: advisories about ${sources} source packages and releases.`);
}

function contentOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch {
    throw new Complaint(`${file} cannot be read.`);
  }
}

/** Sets the URL of a feed. Without a URL, the feed is no longer read. */
async function followFeed(admin: AdminClient, feed: string, { value: url }: Given): Promise<void> {
  await admin.followAdvisories(feed, url ?? null);
  print(url === undefined ? `${feed} is no longer read.` : `${feed} is read once a day from ${url}.`);
}

async function listFeeds(admin: AdminClient): Promise<void> {
  const rows = (await admin.advisoryFeeds()).map(({ feed, readAt, sources, origin, url, problem }) => [
    feed,
    readAt ?? "never",
    String(sources),
    origin ?? "",
    url ?? "",
    problem,
  ]);
  printTable([["FEED", "READ", "SOURCES", "FROM", "URL", "PROBLEM"], ...rows]);
}
