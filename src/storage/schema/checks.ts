import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { checkRunStates } from "#lib/contract/check-run";
import type { Check, CheckResult } from "#lib/contract/index";
import { id, moment, uid } from "./columns.ts";

/** Runs of an appliance's checks on one of its images. A run waits here until an agent claims it. */
export const checkRuns = sqliteTable(
  "check_runs",
  {
    id: id(),
    uid: uid(),
    accountId: integer("account_id").notNull(),
    buildId: integer("build_id").notNull(),
    state: text("state", { enum: checkRunStates }).notNull(),
    /** The checks of the run: the appliance's checks when the run was requested. */
    checks: text("checks", { mode: "json" }).notNull().$type<Check[]>(),
    /** How many agents have claimed the run. */
    attempts: integer("attempts").notNull().default(0),
    /** The uid of the testdrive of the last attempt. */
    testdriveUid: text("testdrive_uid"),
    /** One result for each check, in the same order; null until the run has ended. */
    results: text("results", { mode: "json" }).$type<CheckResult[]>(),
    /** The seconds that the guest took to its login prompt. */
    loginSeconds: real("login_seconds"),
    isEmulated: integer("is_emulated", { mode: "boolean" }),
    /** The last part of the output on the serial console. */
    console: text("console").notNull().default(""),
    /** The picture of the screen at the end. */
    screenBlob: text("screen_blob"),
    /** Whether the agent of the last attempt keeps the machine as it was at the end. */
    isMachineKept: integer("is_machine_kept", { mode: "boolean" }).notNull().default(false),
    /** Why the run is waiting again, or could not be done. */
    message: text("message").notNull().default(""),
    createdAt: moment("created_at").notNull(),
    endedAt: moment("ended_at"),
    /** When the sweep checks the run, as long as it has not ended. */
    wakeAt: moment("wake_at").notNull(),
  },
  (table) => [
    uniqueIndex("check_runs_unfinished")
      .on(table.buildId)
      .where(sql`state IN ('waiting', 'running')`),
    index("check_runs_build").on(table.buildId, table.id),
    index("check_runs_account").on(table.accountId),
    index("check_runs_waiting")
      .on(table.accountId, table.id)
      .where(sql`state = 'waiting'`),
    index("check_runs_testdrive")
      .on(table.testdriveUid)
      .where(sql`testdrive_uid IS NOT NULL`),
    index("check_runs_screen")
      .on(table.screenBlob)
      .where(sql`screen_blob IS NOT NULL`),
    index("check_runs_wake")
      .on(table.wakeAt)
      .where(sql`state IN ('waiting', 'running')`),
  ],
);
